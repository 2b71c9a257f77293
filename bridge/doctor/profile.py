"""The broker as it was saved, against the broker as it is."""

from bridge.doctor.finding import Finding, ok, skipped, warn
from bridge.doctor.ground import Site
from bridge.terminal.paper.compare import compare
from bridge.terminal.paper.profile import BrokerProfile

# So many differences are told one by one.
_TOLD = 3


def profile(site: Site) -> Finding:
    """Compare the profile that back-tests and replays play with what the terminal says today."""
    named = site.settings.paper.profile
    if site.is_paper:
        return skipped("the broker is played from its profile", "nothing is to be compared")
    if named is None:
        todo = "mt5-onnx profile save FILE, and name it in paper.profile; then changes are told"
        return skipped("no profile of this broker is named", todo)
    found = compare(BrokerProfile.load(named), site.terminal)
    if not found:
        return ok(f"the terminal is as {named} says")
    told = "; ".join(str(each) for each in found[:_TOLD])
    more = f"; and {len(found) - _TOLD} more" if len(found) > _TOLD else ""
    todo = "see whether replays on the old profile still mean anything; save it again"
    return warn(f"{told}{more}", todo)
