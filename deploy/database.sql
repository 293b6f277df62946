-- Citewell's database, and a role for it that is no superuser, so that the policies between users hold (docs/scale.md):
--   DATABASE_PASSWORD=... psql --file=deploy/database.sql postgres   # once, as a superuser
\getenv password DATABASE_PASSWORD
CREATE ROLE citewell LOGIN NOSUPERUSER NOBYPASSRLS PASSWORD :'password';
CREATE DATABASE citewell OWNER citewell ENCODING 'UTF8' TEMPLATE template0;
\connect citewell
CREATE EXTENSION vector;
