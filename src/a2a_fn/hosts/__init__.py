"""How each platform calls us: ``local`` (one machine), ``lambda_http`` and ``lambda_batch``."""
