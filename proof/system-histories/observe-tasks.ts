import type { World } from '../../test/support/world.ts'

/** One version of a task's row, in the order in which the database wrote them. */
export type TaskChange = {
  readonly id: string
  readonly status: string
  readonly owner: string | null
  readonly fence: string
  readonly updated: Date
  readonly given: string
}

/** One version of the deploy lock, in the order in which they were written. */
export type LockChange = { readonly isSet: boolean; readonly reason: string | null; readonly at: Date }

/** Has the database itself note every version of every task and of the lock, so that nothing a replica writes escapes. */
export async function observeTasks({ rows }: World): Promise<void> {
  await rows(`
    CREATE TABLE public.task_changes (
      n bigint GENERATED ALWAYS AS IDENTITY, id uuid, status text, owner uuid, fence bigint, updated timestamptz, given text);
    CREATE FUNCTION public.note_task() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN
      INSERT INTO public.task_changes (id, status, owner, fence, updated, given)
      VALUES (NEW.id, NEW.status, NEW.owner, NEW.fence, NEW.updated,
        concat_ws(' ', NEW.created, NEW.deadline, NEW.app, NEW.images, NEW.author, NEW.may_write, NEW.timeout_seconds));
      RETURN NULL;
    END $$;
    CREATE TRIGGER note_task AFTER INSERT OR UPDATE ON watcher.tasks FOR EACH ROW EXECUTE FUNCTION public.note_task();
    CREATE TABLE public.lock_changes (
      n bigint GENERATED ALWAYS AS IDENTITY, is_set boolean, reason text, at timestamptz DEFAULT clock_timestamp());
    CREATE FUNCTION public.note_lock() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN
      INSERT INTO public.lock_changes (is_set, reason) VALUES (NEW.is_set, NEW.reason);
      RETURN NULL;
    END $$;
    CREATE TRIGGER note_lock AFTER UPDATE ON watcher.deploy_lock FOR EACH ROW EXECUTE FUNCTION public.note_lock();
  `)
}

export const taskChanges = ({ rows }: World) =>
  rows<TaskChange>('SELECT id, status, owner, fence, updated, given FROM public.task_changes ORDER BY n')

export const lockChanges = ({ rows }: World) =>
  rows<LockChange>('SELECT is_set AS "isSet", reason, at FROM public.lock_changes ORDER BY n')
