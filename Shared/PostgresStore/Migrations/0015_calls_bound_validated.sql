-- expand, readers_from 1
-- Reads the whole table, while calls are written and read as always: this lock only keeps others from changing the table's form. 0016
-- then need not read it.
ALTER TABLE calls VALIDATE CONSTRAINT calls_bound;
