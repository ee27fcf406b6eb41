from .page import Report as Report
