package attach

import (
	"strings"

	tea "charm.land/bubbletea/v2"
)

// keyKind says which key was pressed.
type keyKind int

const (
	// keyOther is a key without a function here.
	keyOther keyKind = iota
	// keyText is a typed character; keyPaste is pasted text.
	keyText
	keyPaste
	keyEnter
	keyNewline
	keyTab
	keyEscape
	keyBackspace
	keyDelete
	keyDeleteWord
	keyDeleteToStart
	keyDeleteToEnd
	keyLeft
	keyRight
	keyWordLeft
	keyWordRight
	keyHome
	keyEnd
	keyUp
	keyDown
	keyPageUp
	keyPageDown
	keyPrevious
	keyNext
	keySearch
	keySteer
	keyEdit
	keyCopy
	keyOpen
	keyLive
	keyWheelUp
	keyWheelDown
	keyInterrupt
	keyEndOfInput
	keyTools
	keyTodo
	keyPlan
	keyAnswer
	keyRedraw
	keySuspend
)

// key is one key, with its text for keyText and keyPaste.
type key struct {
	kind keyKind
	text string
}

// strokes are the keys by bubbletea's names.
var strokes = map[string]keyKind{
	"enter": keyEnter, "alt+enter": keyNewline, "shift+enter": keyNewline, "ctrl+j": keyNewline, "alt+ctrl+j": keyNewline,
	"tab": keyTab, "shift+tab": keyPlan, "esc": keyEscape,
	"backspace": keyBackspace, "ctrl+h": keyBackspace, "shift+backspace": keyBackspace,
	"alt+backspace": keyDeleteWord, "ctrl+backspace": keyDeleteWord, "delete": keyDelete,
	"ctrl+w": keyDeleteWord, "ctrl+u": keyDeleteToStart, "ctrl+k": keyDeleteToEnd,
	"left": keyLeft, "ctrl+b": keyLeft, "right": keyRight, "ctrl+f": keyRight,
	"ctrl+left": keyWordLeft, "alt+left": keyWordLeft, "alt+b": keyWordLeft,
	"ctrl+right": keyWordRight, "alt+right": keyWordRight, "alt+f": keyWordRight,
	"home": keyHome, "ctrl+home": keyHome, "ctrl+a": keyHome, "end": keyEnd, "ctrl+e": keyEnd,
	"up": keyUp, "down": keyDown, "pgup": keyPageUp, "pgdown": keyPageDown, "shift+up": keyPageUp, "shift+down": keyPageDown,
	"ctrl+p": keyPrevious, "ctrl+n": keyNext, "ctrl+r": keySearch, "ctrl+s": keySteer, "ctrl+g": keyEdit, "alt+c": keyCopy, "alt+o": keyOpen, "ctrl+end": keyLive,
	"ctrl+c": keyInterrupt, "ctrl+d": keyEndOfInput, "ctrl+t": keyTools, "ctrl+o": keyTodo,
	"ctrl+y": keyAnswer, "ctrl+l": keyRedraw, "ctrl+z": keySuspend,
}

// keyOf is the function of a pressed key.
func keyOf(msg tea.KeyPressMsg) key {
	if kind := strokes[msg.Keystroke()]; kind != keyOther {
		return key{kind: kind}
	}
	if msg.Text != "" && msg.Mod&^(tea.ModShift|tea.ModCapsLock|tea.ModNumLock) == 0 {
		return key{keyText, msg.Text}
	}
	return key{}
}

// mostPaste bounds a paste, in bytes. It is above the limit of a submit.
const mostPaste = 16 << 20

// pasteText is pasted text with newlines as files have them: terminals send returns.
func pasteText(text string) string {
	text = text[:min(len(text), mostPaste)]
	text = strings.ReplaceAll(text, "\r\n", "\n")
	return strings.ToValidUTF8(strings.ReplaceAll(text, "\r", "\n"), "\ufffd")
}
