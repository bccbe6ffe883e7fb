"""Arguments between tags: parameters, child elements, attributes, CDATA, raw values."""
