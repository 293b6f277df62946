"""How good is it: data sets, figures with intervals, calibration, reports. Stores nothing."""
