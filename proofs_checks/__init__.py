"""WHY believe it: claim verification, auditors, and the papers' theorems as executable checks."""
