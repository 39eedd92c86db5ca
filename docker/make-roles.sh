#!/bin/sh
# Makes the roles of the service, once, as the superuser, whom nothing else signs in as: the owner of the schema, who can
# make no roles; the plain login, which owns and inherits nothing; and the four roles that the login takes on.
set -e
psql -v ON_ERROR_STOP=1 -v owner_password="$OWNER_PASSWORD" -v app_password="$APP_PASSWORD" -v database="$POSTGRES_DB" \
  -U "$POSTGRES_USER" -d "$POSTGRES_DB" <<'SQL'
CREATE ROLE strongroom_owner LOGIN PASSWORD :'owner_password';
CREATE ROLE strongroom LOGIN NOINHERIT PASSWORD :'app_password';
CREATE ROLE strongroom_app NOLOGIN NOINHERIT;
CREATE ROLE strongroom_system NOLOGIN NOINHERIT;
CREATE ROLE strongroom_purge NOLOGIN NOINHERIT;
CREATE ROLE strongroom_people NOLOGIN NOINHERIT;
GRANT strongroom_app, strongroom_system, strongroom_purge, strongroom_people TO strongroom;
ALTER DATABASE :"database" OWNER TO strongroom_owner;
REVOKE CONNECT, TEMPORARY ON DATABASE :"database" FROM PUBLIC;
GRANT CONNECT ON DATABASE :"database" TO strongroom;
SQL
