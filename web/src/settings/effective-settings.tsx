// biome-ignore-all lint/a11y/noRedundantRoles: a phone lays rows out as blocks, and a table that is not displayed as one loses its roles
import { useId, useState } from 'react'
import type { EffectiveSetting, EffectiveSettings } from '../../../contract/effective-settings.ts'
import { usePermission } from '../auth/session.ts'
import { WhyNot } from '../auth/why-not.tsx'
import { Answered } from '../ui/answered.tsx'
import { Icon } from '../ui/icon.tsx'
import { Section } from '../ui/section.tsx'
import { Cell, Row, RowHead } from '../ui/table.tsx'
import { useSettings } from './read-settings.ts'

/** What the service was started with: each value and where it comes from. Secrets are never shown. */
export function SettingsSection() {
  const permission = usePermission()
  return (
    <Section
      title="Effective settings"
      id="effective"
      end={<span className="dim hide-phone">Read only. They come from the environment; secrets are never shown.</span>}
    >
      {permission.kind === 'allowed' ? (
        <Settings />
      ) : (
        <WhyNot id="why-settings" permission={permission} verb="see the settings" />
      )}
    </Section>
  )
}

const Settings = () => (
  <Answered query={useSettings()} what="the settings">
    {({ groups }) => <Groups groups={groups} />}
  </Answered>
)

const isChosen = ({ origin }: EffectiveSetting) => origin !== 'default'

/** Those that were chosen; all of them on request, or those whose names are searched for. */
function Groups({ groups }: EffectiveSettings) {
  const [areAllShown, showAll] = useState(false)
  const [search, setSearch] = useState('')
  const field = useId()
  const isFound = ({ name }: EffectiveSetting) =>
    name.includes(
      search
        .trim()
        .toUpperCase()
        .replaceAll(/[\s-]+/g, '_'),
    )
  const isSearched = search.trim() !== ''
  const isShown = (setting: EffectiveSetting) => (isSearched ? isFound(setting) : areAllShown || isChosen(setting))
  const shown = groups
    .map((group) => ({ ...group, settings: group.settings.filter(isShown) }))
    .filter(({ settings }) => settings.length > 0)
  const count = groups.reduce((sum, { settings }) => sum + settings.length, 0)
  return (
    <>
      <div className="field setting-search">
        <label htmlFor={field}>Find a setting</label>
        <input
          id={field}
          type="search"
          autoComplete="off"
          value={search}
          onChange={({ currentTarget: { value } }) => setSearch(value)}
        />
      </div>
      {shown.length === 0 ? <p className="why">No setting has this in its name.</p> : null}
      <table className="table cards settings" role="table" aria-label="Effective settings">
        <thead role="rowgroup">
          <tr role="row">
            {['Name', 'Value', 'From'].map((name) => (
              <th role="columnheader" scope="col" key={name}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        {shown.map(({ name, settings }) => (
          <tbody role="rowgroup" aria-label={name} key={name}>
            <Row className="group">
              <RowHead scope="rowgroup" colSpan={3}>
                {name}
              </RowHead>
            </Row>
            {settings.map((setting) => (
              <SettingRow setting={setting} key={setting.name} />
            ))}
          </tbody>
        ))}
      </table>
      <p>
        <button className="btn btn-s" type="button" aria-expanded={areAllShown} onClick={() => showAll(!areAllShown)}>
          {areAllShown ? 'Show those that are set' : `Show all ${count} settings`}
        </button>
      </p>
    </>
  )
}

const originWords: Readonly<Record<string, string>> = { environment: 'environment', default: 'default' }

function SettingRow({ setting: { name, value, is_secret: isSecret, origin } }: { setting: EffectiveSetting }) {
  return (
    <Row>
      <RowHead className="full">
        <code>{name}</code>
      </RowHead>
      <Cell className="wrap-any">
        {isSecret && value !== null ? (
          <span className="secret">
            <Icon name="i-key" />
            set
          </span>
        ) : value === null ? (
          <span className="dim">not set</span>
        ) : (
          <code>{value === '' ? '""' : value}</code>
        )}
      </Cell>
      <Cell className="set-src push">{originWords[origin] ?? <code>{origin}</code>}</Cell>
    </Row>
  )
}
