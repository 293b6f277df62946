"""How good is it: data sets, figures with their intervals, calibration, reports. The one rule:
pure, nothing here is stored.
"""
