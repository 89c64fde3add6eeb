from support.table_files import make_shop, refuse  # noqa: F401
