"""Settings: closed, frozen, inert. Built once, in `service.App` or the command line, and passed
down.

From the least to the most binding: defaults, `citewell.toml` (in the home folder, or the file that
`CITEWELL_CONFIG` names), environment variables `CITEWELL_<NAME>` (`CITEWELL_QA__MAX_RETRIES` for a
nested one), arguments. The one rule: an unknown key is refused by its name, wherever it comes from.
"""

from citewell.config.access_settings import AccessSettings, FeedbackSettings
from citewell.config.agent_settings import (
    DataSettings,
    DualLoopSettings,
    MemorySettings,
    PaperSettings,
    QASettings,
    WebSettings,
    WebsiteSettings,
)
from citewell.config.document_settings import IngestSettings, SearchSettings
from citewell.config.settings import PREFIX, Settings
from citewell.config.settings_sources import load_settings, read_config_file

__all__ = [
    "PREFIX",
    "AccessSettings",
    "DataSettings",
    "DualLoopSettings",
    "FeedbackSettings",
    "IngestSettings",
    "MemorySettings",
    "PaperSettings",
    "QASettings",
    "SearchSettings",
    "Settings",
    "WebSettings",
    "WebsiteSettings",
    "load_settings",
    "read_config_file",
]
