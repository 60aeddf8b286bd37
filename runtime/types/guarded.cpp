#include "troupe/runtime/types/guarded.hpp"

#include <new>

namespace troupe {

status explain_exception(std::string_view activity) {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return failure(error_kind::resource_exhausted, "out of memory while ", activity);
  } catch (const std::exception& exception) {
    return failure(error_kind::internal, activity, " threw an exception: ", exception.what());
  } catch (...) {
    return failure(error_kind::internal, activity, " threw an exception of unknown type");
  }
}

} // namespace troupe
