// Functions of the system that this program has in its own place, so that a test can say what they
// do: threads that are not to be had, and names of hosts.
#pragma once
#include <string>

namespace troupe::test {

/// Not under sanitizers, which replace the same functions.
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
inline constexpr bool functions_are_replaced = false;
#else
inline constexpr bool functions_are_replaced = true;
#endif

/// While it lives, no thread of this process can be made.
class thread_shortage {
public:
  thread_shortage();
  thread_shortage(const thread_shortage&) = delete;
  thread_shortage& operator=(const thread_shortage&) = delete;
  ~thread_shortage();
};

/// While it lives, names of hosts are resolved as it says, as a name server does. One at a time.
class name_table {
public:
  name_table() = default;
  name_table(const name_table&) = delete;
  name_table& operator=(const name_table&) = delete;
  ~name_table();

  /// `address` is one in numbers.
  void set(const std::string& name, const std::string& address);
};

} // namespace troupe::test
