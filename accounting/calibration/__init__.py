"""How much noise, how many rounds or clients a target allows, and how accurate the released numbers then are."""
