// Functions of the system that this program replaces, so that a test controls them: thread
// creation, and the resolution of host names.
#pragma once
#include <string>

namespace troupe::test {

/// Not under sanitizers, which replace the same functions.
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
inline constexpr bool functions_are_replaced = false;
#else
inline constexpr bool functions_are_replaced = true;
#endif

/// While an object exists, no thread of this process can be created.
class thread_shortage {
public:
  thread_shortage();
  thread_shortage(const thread_shortage&) = delete;
  thread_shortage& operator=(const thread_shortage&) = delete;
  ~thread_shortage();
};

/// While an object exists, it resolves host names, as a name server does. At most one object at a
/// time.
class name_table {
public:
  name_table() = default;
  name_table(const name_table&) = delete;
  name_table& operator=(const name_table&) = delete;
  ~name_table();

  /// `address` is a numeric address.
  void set(const std::string& name, const std::string& address);
};

} // namespace troupe::test
