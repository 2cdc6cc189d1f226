"""The law of a run's privacy loss: the one inverter, the one root finder; what is inverted is in atoms and smooth."""
