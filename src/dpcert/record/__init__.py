"""The public record as web pages: every claim of a folder, judged, with its certificate (`make docs`)."""
