package attach

import "testing"

// The path of an image becomes a reference however a terminal pastes it; any other text stays
// as it is.
func TestPastedImagePaths(t *testing.T) {
	for text, want := range map[string]string{
		"/home/ada/shot.png":       "@/home/ada/shot.png ",
		"'/home/ada/my shot.PNG'":  `@"/home/ada/my shot.PNG" `,
		`/home/ada/my\ shot.jpeg `: `@"/home/ada/my shot.jpeg" `,
		"file:///tmp/a%20b.webp":   `@"/tmp/a b.webp" `,
		`/tmp/it\'s\ \(1\)\\.png`:  `@"/tmp/it's (1)\\.png" `,
		`file:///tmp/a%5Cb.png`:    `@/tmp/a\b.png `,
		// A screenshot of macOS.
		"/tmp/Shot\\ at\\ 9.22\u202fPM.png": "@\"/tmp/Shot at 9.22\u202fPM.png\" ",
		"/tmp/Bild\u00a01.png":              "@\"/tmp/Bild\u00a01.png\" ",
		"/home/ada/notes.txt":               "/home/ada/notes.txt",
		"shot.png":                          "shot.png",
		"see /home/ada/shot.png":            "see /home/ada/shot.png",
		"https://example.org/pic.png":       "https://example.org/pic.png",
	} {
		var e editor
		e.pasted(text)
		if got := e.text(); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}
