"""Documents kept in step with places elsewhere."""
