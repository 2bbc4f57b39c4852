"""Reading Chinese text: its scripts, numerals, dates, quantities and sentences."""
