# Compiles every program of this folder with MetaEditor and fails on errors or warnings.
# Not run yet by its authors: they have no MetaEditor. What it relies on is marked below.
#
#   powershell -File compile.ps1 -MetaEditor "C:\Program Files\MetaTrader 5\metaeditor64.exe"
#
# Sources may lie anywhere; nothing is copied into a terminal. Paths without spaces are safer.
param(
    [Parameter(Mandatory = $true)][string]$MetaEditor,
    [string]$Mql5 = $PSScriptRoot,
    [string[]]$Folders = @("Experts", "Indicators", "Scripts"),
    [int]$TimeoutSeconds = 300
)
$ErrorActionPreference = "Stop"
if (-not (Test-Path -LiteralPath $MetaEditor)) { throw "there is no MetaEditor at $MetaEditor" }
$root = (Resolve-Path -LiteralPath $Mql5).Path
$failed = 0
foreach ($folder in $Folders) {
    $path = Join-Path $root $folder
    if (-not (Test-Path -LiteralPath $path)) { continue }
    foreach ($source in Get-ChildItem -LiteralPath $path -Filter *.mq5 -Recurse) {
        $log = [IO.Path]::ChangeExtension($source.FullName, ".log")
        Remove-Item -LiteralPath $log -ErrorAction SilentlyContinue
        # /include names the folder that holds Include; /log writes a .log beside the source.
        $arguments = @("/compile:`"$($source.FullName)`"", "/include:`"$root`"", "/log")
        $process = Start-Process -FilePath $MetaEditor -ArgumentList $arguments -PassThru
        if (-not $process.WaitForExit(1000 * $TimeoutSeconds)) {
            $process.Kill()
            Write-Host "FAILED $($source.Name): no answer in $TimeoutSeconds s"
            $failed++
            continue
        }
        # The exit code does not tell errors reliably; the log does. It is UTF-16.
        if (-not (Test-Path -LiteralPath $log)) {
            Write-Host "FAILED $($source.Name): MetaEditor wrote no log"
            $failed++
            continue
        }
        $text = Get-Content -LiteralPath $log -Encoding Unicode
        $result = $text | Select-String -Pattern "(\d+)\s+errors?,\s+(\d+)\s+warnings?" | Select-Object -Last 1
        $isClean = $result -and $result.Matches[0].Groups[1].Value -eq "0" -and
            $result.Matches[0].Groups[2].Value -eq "0"
        if ($isClean) {
            Write-Host "ok     $($source.Name)"
        } else {
            Write-Host "FAILED $($source.Name)"
            $text | ForEach-Object { Write-Host "       $_" }
            $failed++
        }
    }
}
if ($failed -gt 0) { Write-Host "$failed programs do not compile cleanly"; exit 1 }
Write-Host "all programs compile"
