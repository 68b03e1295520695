/** Submits and waits. The image and the tag are those that run in the demo at first, so that it needs no credential there. */
export const firstCommand = (origin: string) => `task=$(curl -sS --fail-with-body ${origin}/api/v1/tasks \\
  -H "Content-Type: application/json" -d '{
    "app": "shop", "author": "you", "project": "demo",
    "images": [{"image": "registry.example/shop", "tag": "1.0.0"}]
  }') && curl -sS --fail-with-body -w '\\n' \\
  "${origin}/api/v1/tasks/$(printf %s "$task" | cut -d'"' -f4)?wait=50" || printf '%s\\n' "$task"`
