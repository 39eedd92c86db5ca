#!/bin/sh
# Makes the plain login of the service: it owns nothing and inherits nothing.
set -e
psql -v ON_ERROR_STOP=1 -v password="$APP_PASSWORD" -U "$POSTGRES_USER" -d "$POSTGRES_DB" <<'SQL'
CREATE ROLE strongroom LOGIN NOINHERIT PASSWORD :'password';
SQL
