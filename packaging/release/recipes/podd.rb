# The formula of podd <<.Version>> for Homebrew: brew install --formula ./podd.rb
class Podd < Formula
  desc "Daemon that hosts LLM agents"
  homepage "<<.URL>>"
  version "<<.Version>>"
  license "Apache-2.0"

  on_macos do
<<- with index .Sum "darwin-arm64">>
    on_arm do
      url "<<$.URL>>/podd-<<$.Version>>-darwin-arm64.tar.gz"
      sha256 "<<.>>"
    end
<<- end>>
<<- with index .Sum "darwin-amd64">>
    on_intel do
      url "<<$.URL>>/podd-<<$.Version>>-darwin-amd64.tar.gz"
      sha256 "<<.>>"
    end
<<- end>>
  end

  on_linux do
<<- with index .Sum "linux-arm64">>
    on_arm do
      url "<<$.URL>>/podd-<<$.Version>>-linux-arm64.tar.gz"
      sha256 "<<.>>"
    end
<<- end>>
<<- with index .Sum "linux-amd64">>
    on_intel do
      url "<<$.URL>>/podd-<<$.Version>>-linux-amd64.tar.gz"
      sha256 "<<.>>"
    end
<<- end>>
  end

  def install
    bin.install Dir["bin/*"]
    man1.install Dir["share/man/man1/*"]
    bash_completion.install Dir["share/bash-completion/completions/*"]
    zsh_completion.install Dir["share/zsh/site-functions/*"]
    fish_completion.install Dir["share/fish/vendor_completions.d/*"]
    doc.install Dir["share/doc/podd/*"]
    pkgshare.install "share/podd/podd.vsix"
    (share/"nvim").install Dir["share/nvim/*"]
  end

  service do
    run [opt_bin/"podd"]
    keep_alive crashed: true
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/podctl version")
  end
end
