-- The span of the pipeline that submitted the task, as its header named it; null: none.
ALTER TABLE tasks ADD COLUMN traceparent text;
