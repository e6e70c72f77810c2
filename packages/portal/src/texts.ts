/** Every text of the page. `{…}` is replaced by a value. */
export interface Texts {
  readonly title: string;
  readonly intro: string;
  readonly noScript: string;
  readonly loading: string;
  readonly create: string;
  readonly empty: string;
  readonly emptyHint: string;
  readonly emptyReadOnly: string;
  readonly more: string;
  readonly unnamed: string;
  readonly created: string;
  readonly lastUsed: string;
  readonly never: string;
  readonly expires: string;
  readonly usesLeft: string;
  readonly permissions: string;
  readonly stateActive: string;
  readonly stateExpired: string;
  readonly stateUsedUp: string;
  readonly stateOff: string;
  readonly stateStarts: string;
  readonly stateReplaced: string;
  readonly stateReplacedUntil: string;
  readonly rename: string;
  readonly rotate: string;
  readonly revoke: string;
  readonly usage: string;
  readonly cancel: string;
  readonly createTitle: string;
  readonly name: string;
  readonly nameHint: string;
  readonly product: string;
  readonly expiry: string;
  readonly expiryUsual: string;
  readonly expiryDays: string;
  readonly secretTitle: string;
  readonly secretHint: string;
  readonly secret: string;
  readonly copy: string;
  readonly copied: string;
  readonly copyFailed: string;
  readonly secretDone: string;
  readonly secretLostTitle: string;
  readonly secretLost: string;
  readonly renameTitle: string;
  readonly save: string;
  readonly rotateTitle: string;
  readonly rotateHint: string;
  readonly grace: string;
  readonly graceNone: string;
  readonly graceHour: string;
  readonly graceDay: string;
  readonly graceWeek: string;
  readonly graceThen: string;
  readonly cannotRotate: string;
  readonly revokeTitle: string;
  readonly revokeHint: string;
  readonly usageTitle: string;
  readonly usageNone: string;
  readonly usageTable: string;
  readonly day: string;
  readonly accepted: string;
  readonly refused: string;
  readonly doneCreated: string;
  readonly doneRenamed: string;
  readonly doneRotated: string;
  readonly doneRevoked: string;
  readonly retry: string;
  readonly overTitle: string;
  readonly overHost: string;
  readonly overLink: string;
  readonly overStill: string;
  readonly continue: string;
  readonly signInHost: string;
  readonly signIn: string;
  readonly signInLink: string;
  readonly errorOffline: string;
  readonly errorStore: string;
  readonly errorUncertain: string;
  readonly errorGone: string;
  readonly errorForbidden: string;
  readonly errorTooMany: string;
  readonly errorGraces: string;
  readonly errorExpiry: string;
  readonly errorRotated: string;
  readonly errorExpired: string;
  readonly errorSetUp: string;
  readonly errorInput: string;
  readonly errorOther: string;
}

/** The texts in English. */
export const ENGLISH: Texts = {
  title: "API keys",
  intro: "Programs use these keys to call the API on your behalf. Treat them like passwords.",
  noScript: "This page needs JavaScript.",
  loading: "Loading",
  create: "Create key",
  empty: "No keys yet",
  emptyHint: "Create a key to call the API from a program.",
  emptyReadOnly: "Keys created for you appear here.",
  more: "Show more",
  unnamed: "Unnamed key",
  created: "Created",
  lastUsed: "Last used",
  never: "Never",
  expires: "Expires",
  usesLeft: "Uses left",
  permissions: "Permissions",
  stateActive: "Active",
  stateExpired: "Expired",
  stateUsedUp: "Used up",
  stateOff: "Disabled",
  stateStarts: "Valid from {when}",
  stateReplaced: "Replaced",
  stateReplacedUntil: "Replaced, valid until {when}",
  rename: "Rename",
  rotate: "Rotate",
  revoke: "Revoke",
  usage: "Usage",
  cancel: "Cancel",
  createTitle: "Create a key",
  name: "Name",
  nameHint: "The program that will use it, such as “build server”.",
  product: "For",
  expiry: "Expires",
  expiryUsual: "Default",
  expiryDays: "In {days} days",
  secretTitle: "Your new key",
  secretHint: "Copy it now and keep it somewhere safe. It is shown only once.",
  secret: "Secret",
  copy: "Copy",
  copied: "Copied",
  copyFailed: "Copying failed: select the text and copy it.",
  secretDone: "I have saved it",
  secretLostTitle: "The secret was lost",
  secretLost:
    "The key was created, but the response with its secret did not arrive, and a secret is sent only once. Revoke this key and create another.",
  renameTitle: "Rename the key",
  save: "Save",
  rotateTitle: "Rotate “{name}”",
  rotateHint: "You get a new secret with the same settings. Use it wherever the old one is used.",
  grace: "The old secret stops working",
  graceNone: "Immediately",
  graceHour: "In 1 hour",
  graceDay: "In 1 day",
  graceWeek: "In 7 days",
  graceThen: "After that, programs that still use the old secret are refused.",
  cannotRotate: "This key cannot be rotated here: it can do more than a key created here.",
  revokeTitle: "Revoke “{name}”?",
  revokeHint: "Programs that use this key stop working immediately. This cannot be undone.",
  usageTitle: "Usage of “{name}” in the last 30 days",
  usageNone: "Not used in the last 30 days.",
  usageTable: "As a table",
  day: "Day (UTC)",
  accepted: "Accepted",
  refused: "Refused",
  doneCreated: "The key was created.",
  doneRenamed: "The key was renamed.",
  doneRotated: "The key was rotated.",
  doneRevoked: "The key was revoked.",
  retry: "Try again",
  overTitle: "Your session has ended",
  overHost:
    "Nothing you typed is lost. If you were signed out, sign in again in another tab, then continue here.",
  overLink: "Nothing you typed is lost. Get a new link from the same place as this one.",
  overStill: "You are still signed out.",
  continue: "Continue",
  signInHost: "Sign in to see your API keys.",
  signIn: "Sign in",
  signInLink: "This link has expired. Get a new one from the same place as this one.",
  errorOffline: "The server is not responding. Check your connection and try again.",
  errorStore: "The service is currently unavailable. Nothing was changed; try again in a moment.",
  errorUncertain:
    "There was no response, so the change may already be made. Check your connection and try again: nothing is done twice.",
  errorGone: "This key no longer exists.",
  errorForbidden: "This is not allowed here.",
  errorTooMany: "You have reached the maximum number of keys: {limit}. Revoke one first.",
  errorGraces:
    "{limit} replaced secrets still work, which is the maximum. Stop the old secret immediately, or revoke a replaced one.",
  errorExpiry: "The key must expire sooner.",
  errorRotated: "This key has already been rotated. Rotate the key that replaced it.",
  errorExpired: "This key has expired and cannot be rotated.",
  errorSetUp: "Keys cannot be created here right now. Please contact support.",
  errorInput: "Check your input: {what}",
  errorOther: "Something went wrong. Please try again later.",
};

/** The texts in German. */
export const GERMAN: Texts = {
  title: "API-Schlüssel",
  intro:
    "Mit diesen Schlüsseln rufen Programme die API in Ihrem Namen auf. Behandeln Sie sie wie Passwörter.",
  noScript: "Diese Seite braucht JavaScript.",
  loading: "Wird geladen",
  create: "Schlüssel erstellen",
  empty: "Noch keine Schlüssel",
  emptyHint: "Erstellen Sie einen Schlüssel, um die API aus einem Programm aufzurufen.",
  emptyReadOnly: "Hier erscheinen Schlüssel, die für Sie erstellt wurden.",
  more: "Mehr anzeigen",
  unnamed: "Schlüssel ohne Namen",
  created: "Erstellt",
  lastUsed: "Zuletzt verwendet",
  never: "Nie",
  expires: "Läuft ab",
  usesLeft: "Verbleibende Nutzungen",
  permissions: "Berechtigungen",
  stateActive: "Aktiv",
  stateExpired: "Abgelaufen",
  stateUsedUp: "Aufgebraucht",
  stateOff: "Deaktiviert",
  stateStarts: "Gültig ab {when}",
  stateReplaced: "Ersetzt",
  stateReplacedUntil: "Ersetzt, gültig bis {when}",
  rename: "Umbenennen",
  rotate: "Erneuern",
  revoke: "Widerrufen",
  usage: "Nutzung",
  cancel: "Abbrechen",
  createTitle: "Schlüssel erstellen",
  name: "Name",
  nameHint: "Das Programm, das ihn verwenden wird, zum Beispiel „Build-Server“.",
  product: "Für",
  expiry: "Läuft ab",
  expiryUsual: "Standard",
  expiryDays: "In {days} Tagen",
  secretTitle: "Ihr neuer Schlüssel",
  secretHint:
    "Kopieren Sie ihn jetzt und bewahren Sie ihn sicher auf. Er wird nur einmal angezeigt.",
  secret: "Geheimnis",
  copy: "Kopieren",
  copied: "Kopiert",
  copyFailed: "Das Kopieren ist fehlgeschlagen: Markieren Sie den Text und kopieren Sie ihn.",
  secretDone: "Ich habe ihn gespeichert",
  secretLostTitle: "Das Geheimnis ist verloren",
  secretLost:
    "Der Schlüssel wurde erstellt, aber die Antwort mit seinem Geheimnis ist nicht angekommen, und ein Geheimnis wird nur einmal gesendet. Widerrufen Sie diesen Schlüssel und erstellen Sie einen neuen.",
  renameTitle: "Schlüssel umbenennen",
  save: "Speichern",
  rotateTitle: "„{name}“ erneuern",
  rotateHint:
    "Sie erhalten ein neues Geheimnis mit denselben Einstellungen. Setzen Sie es überall ein, wo das alte verwendet wird.",
  grace: "Das alte Geheimnis wird ungültig",
  graceNone: "Sofort",
  graceHour: "In 1 Stunde",
  graceDay: "In 1 Tag",
  graceWeek: "In 7 Tagen",
  graceThen: "Danach werden Programme abgewiesen, die noch das alte Geheimnis verwenden.",
  cannotRotate:
    "Dieser Schlüssel kann hier nicht erneuert werden: Er darf mehr als ein Schlüssel, der hier erstellt wird.",
  revokeTitle: "„{name}“ widerrufen?",
  revokeHint:
    "Programme, die diesen Schlüssel verwenden, funktionieren sofort nicht mehr. Das kann nicht rückgängig gemacht werden.",
  usageTitle: "Nutzung von „{name}“ in den letzten 30 Tagen",
  usageNone: "In den letzten 30 Tagen nicht verwendet.",
  usageTable: "Als Tabelle",
  day: "Tag (UTC)",
  accepted: "Angenommen",
  refused: "Abgewiesen",
  doneCreated: "Der Schlüssel wurde erstellt.",
  doneRenamed: "Der Schlüssel wurde umbenannt.",
  doneRotated: "Der Schlüssel wurde erneuert.",
  doneRevoked: "Der Schlüssel wurde widerrufen.",
  retry: "Erneut versuchen",
  overTitle: "Ihre Sitzung ist beendet",
  overHost:
    "Ihre Eingaben bleiben erhalten. Wenn Sie abgemeldet wurden, melden Sie sich in einem anderen Tab wieder an und fahren Sie dann hier fort.",
  overLink:
    "Ihre Eingaben bleiben erhalten. Holen Sie sich einen neuen Link dort, wo Sie diesen erhalten haben.",
  overStill: "Sie sind immer noch abgemeldet.",
  continue: "Fortfahren",
  signInHost: "Melden Sie sich an, um Ihre API-Schlüssel zu sehen.",
  signIn: "Anmelden",
  signInLink:
    "Dieser Link ist abgelaufen. Holen Sie sich einen neuen dort, wo Sie diesen erhalten haben.",
  errorOffline:
    "Der Server antwortet nicht. Prüfen Sie Ihre Verbindung und versuchen Sie es erneut.",
  errorStore:
    "Der Dienst ist zurzeit nicht verfügbar. Es wurde nichts geändert; versuchen Sie es gleich noch einmal.",
  errorUncertain:
    "Es kam keine Antwort. Möglicherweise wurde die Änderung trotzdem ausgeführt. Prüfen Sie Ihre Verbindung und versuchen Sie es erneut: Nichts wird doppelt ausgeführt.",
  errorGone: "Diesen Schlüssel gibt es nicht mehr.",
  errorForbidden: "Das ist hier nicht erlaubt.",
  errorTooMany:
    "Sie haben die Höchstzahl an Schlüsseln erreicht: {limit}. Widerrufen Sie zuerst einen.",
  errorGraces:
    "{limit} ersetzte Geheimnisse sind noch gültig, das ist die Höchstzahl. Wählen Sie „Sofort“ oder widerrufen Sie einen ersetzten Schlüssel.",
  errorExpiry: "Der Schlüssel muss früher ablaufen.",
  errorRotated:
    "Dieser Schlüssel wurde bereits erneuert. Erneuern Sie den Schlüssel, der ihn ersetzt hat.",
  errorExpired: "Dieser Schlüssel ist abgelaufen und kann nicht erneuert werden.",
  errorSetUp:
    "Zurzeit können hier keine Schlüssel erstellt werden. Bitte wenden Sie sich an den Support.",
  errorInput: "Prüfen Sie Ihre Eingaben: {what}",
  errorOther: "Etwas ist schiefgegangen. Bitte versuchen Sie es später noch einmal.",
};
