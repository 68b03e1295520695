import { useMantineColorScheme } from '@mantine/core'
import { type RefObject, useId } from 'react'
import { Choice } from '../ui/choice.tsx'
import { setDeviceSetting, useDeviceSetting } from '../ui/device-settings.ts'

const shortcuts = [
  ['/', 'Find a task'],
  ['g t', 'Tasks'],
  ['g l', 'Deploy lock'],
  ['j k', 'Next and previous row'],
  ['Enter', 'Open the row'],
  ['.', 'Show new tasks'],
  ['c', 'Copy the report of a failed task'],
  ['?', 'This list'],
] as const

/** What this device keeps for itself, and the keys. Closed by Esc, which takes the focus back to where it was. */
export function DeviceDialog({ dialog }: { dialog: RefObject<HTMLDialogElement | null> }) {
  const title = useId()
  const [zone, keys] = [useDeviceSetting('zone'), useDeviceSetting('shortcuts')]
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  return (
    <dialog className="dialog" ref={dialog} aria-labelledby={title}>
      <div>
        <h2 id={title}>This device</h2>
        <Choice
          legend="Times"
          options={[
            ['utc', 'UTC'],
            ['local', 'Local time'],
          ]}
          value={zone}
          choose={(value) => setDeviceSetting('zone', value)}
        />
        <Choice
          legend="Colours"
          options={[
            ['auto', 'As the system'],
            ['light', 'Light'],
            ['dark', 'Dark'],
          ]}
          value={colorScheme}
          choose={setColorScheme}
        />
        <Choice
          legend="Keyboard shortcuts"
          options={[
            ['on', 'On'],
            ['off', 'Off'],
          ]}
          value={keys}
          choose={(value) => setDeviceSetting('shortcuts', value)}
        />
        <dl className="keys">
          {shortcuts.map(([names, what]) => (
            <div key={names}>
              <dt>
                {names.split(' ').map((name) => (
                  <kbd key={name}>{name}</kbd>
                ))}
              </dt>
              <dd>{what}</dd>
            </div>
          ))}
        </dl>
        <div className="actions">
          <button className="btn" type="button" onClick={() => dialog.current?.close()}>
            Close
          </button>
        </div>
      </div>
    </dialog>
  )
}
