"""How good is it: data sets, figures with their intervals, calibration, reports. Pure, nothing here
is stored.
"""
