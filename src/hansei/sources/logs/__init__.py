"""One module per format of logs that are handed to `hansei import`."""
