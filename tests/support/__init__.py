"""What tests share: data, models, servers, browsers, and the bridge to the reference."""
