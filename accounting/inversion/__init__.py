"""The one inverter: delta(eps) from a measure's transform on a vertical line, both ends bounded."""
