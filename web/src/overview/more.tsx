import { figure } from '../ui/figure.ts'

/** Shows the rows that are left out; nothing where none are. */
export function More({ count, show }: { count: number; show: () => void }) {
  if (count <= 0) return null
  return (
    <p>
      <button className="btn btn-s" type="button" onClick={show}>
        {figure(count)} more
      </button>
    </p>
  )
}
