"""Settings: immutable, unknown names are refused. Built once, by `App` or the command line, and
passed down.

From the least to the most binding: defaults, what was set on the page (`page_settings.py`),
`citewell.toml` (in the home folder, or the file that `CITEWELL_CONFIG` names), environment
variables `CITEWELL_<NAME>` (`CITEWELL_QA__MAX_RETRIES` for a nested one), arguments. An unknown key
is refused by its name, wherever it comes from.
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
from citewell.config.page_settings import PAGE_SETTINGS, read_page_settings, write_page_settings
from citewell.config.settings import PREFIX, Settings
from citewell.config.settings_sources import (
    find_source,
    load_settings,
    name_variable,
    read_config_file,
    replace_settings,
)

__all__ = [
    "PAGE_SETTINGS",
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
    "find_source",
    "load_settings",
    "name_variable",
    "read_config_file",
    "read_page_settings",
    "replace_settings",
    "write_page_settings",
]
