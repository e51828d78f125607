"""Pages and figures of claims: the data, the HTML, Markdown and JSON that show it."""

from boundcheck.report.data import claim_data, report_data
from boundcheck.report.write import Report, other_pages, write_report

__all__ = ["Report", "claim_data", "other_pages", "report_data", "write_report"]
