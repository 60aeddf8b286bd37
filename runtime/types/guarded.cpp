#include "troupe/runtime/types/guarded.hpp"

#include <new>

namespace troupe {

status explain_exception(std::string_view doing) {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return failure(error_kind::resource_exhausted, "out of memory while ", doing);
  } catch (const std::exception& what) {
    return failure(error_kind::internal, doing, " threw an exception: ", what.what());
  } catch (...) {
    return failure(error_kind::internal, doing, " threw an exception of unknown type");
  }
}

} // namespace troupe
