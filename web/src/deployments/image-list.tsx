import { useId } from 'react'

/** References of images: one as it is, several as their number, which opens the list. */
export function ImageList({ images: [first, ...others] }: { images: readonly string[] }) {
  const id = useId()
  if (first === undefined) return null
  if (others.length === 0) return <Reference reference={first} />
  return (
    <>
      <button className="link" type="button" popoverTarget={id}>
        {others.length + 1} images
      </button>
      <div className="panel" id={id} popover="auto" role="dialog" aria-label="Images">
        <ul className="lines">
          {[first, ...others].map((reference) => (
            <li key={reference}>
              <Reference reference={reference} />
            </li>
          ))}
        </ul>
      </div>
    </>
  )
}

/** Name and tag each keep their own direction of writing. */
function Reference({ reference }: { reference: string }) {
  const at = reference.lastIndexOf(':')
  if (at < 0) return <code dir="auto">{reference}</code>
  return (
    <code className="wrap-any">
      <bdi>{reference.slice(0, at)}</bdi>:<bdi>{reference.slice(at + 1)}</bdi>
    </code>
  )
}
