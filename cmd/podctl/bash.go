package main

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

// bashReferences completes words that begin with @. A completion of podctl may begin
// differently from the word: with a quote, or in another directory. A single completion
// replaces the word. Of several, bash inserts their common start; if that would lose the
// word, a blank completion beside them leaves nothing in common, so that bash only shows
// them. All are escaped: names of files must not be commands.
const bashReferences = `
__podctl_handle_references()
{
    local completion other=
    for completion in "${completions[@]}"; do
        printf -v completion "%q" "$completion"
        [[ $completion == "$cur"* ]] || other=1
        COMPREPLY+=("$completion")
    done
    if [[ -n $other ]] && ((${#COMPREPLY[@]} > 1)); then
        COMPREPLY+=(" ")
    fi
}
`

// bashWords finds the words of the command line if the package bash-completion is not
// installed. bash has split them at = : and @, which does not end a word here.
const bashWords = `    local i word rest=$COMP_LINE
    words=() cword=0
    for ((i = 0; i < ${#COMP_WORDS[@]}; i++)); do
        word=${COMP_WORDS[i]}
        if ((i > 0)) && [[ $rest != [[:space:]]* && ( $word == [=:@]* || ${words[${#words[@]}-1]} == *[=:@] ) ]]; then
            words[${#words[@]}-1]+=$word
        else
            words+=("$word")
        fi
        rest=${rest#"${rest%%[![:space:]]*}"}
        rest=${rest#"$word"}
        if ((i == COMP_CWORD)); then
            cword=$((${#words[@]} - 1))
        fi
    done
    cur=${words[cword]}
    prev=${words[cword > 0 ? cword - 1 : 0]}
`

// bashChanges makes cobra's script handle words that begin with @. bash ends a word at @
// (COMP_WORDBREAKS), as at = and :, which the script handles.
var bashChanges = [][2]string{
	{"    _get_comp_words_by_ref \"$@\" cur prev words cword\n", bashWords},
	{"_init_completion -n =:", "_init_completion -n =:@"},
	{"        __podctl_handle_completion_types\n",
		"        if [[ $cur == @* ]]; then\n            __podctl_handle_references\n        else\n            __podctl_handle_completion_types\n        fi\n"},
	{"    __podctl_handle_special_char \"$cur\" =\n",
		"    __podctl_handle_special_char \"$cur\" =\n    __podctl_handle_special_char \"$cur\" @\n"},
	{"\n__start_podctl()", bashReferences + "\n__start_podctl()"},
}

// bashCompletion writes the completion script of bash.
func bashCompletion(w io.Writer, root *cobra.Command) error {
	var b bytes.Buffer
	if err := root.GenBashCompletionV2(&b, true); err != nil {
		return err
	}
	script := b.String()
	for _, c := range bashChanges {
		if !strings.Contains(script, c[0]) {
			return fmt.Errorf("the completion script of bash has no %q to change", c[0])
		}
		script = strings.ReplaceAll(script, c[0], c[1])
	}
	_, err := io.WriteString(w, script)
	return err
}
