"""Helpers of the tests: data, models, servers, browsers, and the bridge to the reference."""
