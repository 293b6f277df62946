"""Citewell: answers from your own documents, in Chinese and English, with every sentence proved.

The one rule: data flows right, imports point left only
(`ingest -> knowledge -> retrieve -> skills -> agents -> service -> interfaces`).
"""

__version__ = "0.1.0"
