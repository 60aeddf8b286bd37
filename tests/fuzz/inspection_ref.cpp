// Refs in the target of an HTTP request from anyone: an accepted ref is the same after writing and
// reading.
#include "troupe/runtime/insight/inspection_ref.hpp"

#include "tests/fuzz/fuzz.hpp"

namespace troupe::fuzz::inspection_ref_fuzz {

FUZZ_TARGET(inspection_ref) {
  auto ref = inspection_ref::parse({reinterpret_cast<const char*>(data), size});
  if (!ref)
    return 0;
  auto text = to_string(*ref);
  if (text.size() > inspection_ref::max_text) // escapes make it longer
    return 0;
  auto copy = inspection_ref::parse(text);
  fuzz::require(copy.ok() && *copy == *ref);
  fuzz::require(ref->within_task().size() + 2 >= ref->parts.size());
  fuzz::require(!ref->task() || ref->task()->task >= 0);
  return 0;
}

} // namespace troupe::fuzz::inspection_ref_fuzz
