// What an operation that can fail returns: a status, or a result that holds a value or a status.
#pragma once
#include "troupe/runtime/export.hpp"

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <ostream>
#include <source_location>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

namespace troupe {

/// Says what to do next; numbered as TensorFlow's canonical codes.
enum class error_kind : uint8_t {
  ok = 0,
  cancelled = 1,           ///< the caller asked for it
  invalid_argument = 3,    ///< mend the call; the same call fails again
  deadline_exceeded = 4,   ///< it may still be running well: allow more time
  not_found = 5,           ///< mend the name
  already_exists = 6,      ///< choose another name
  resource_exhausted = 8,  ///< free something or lower the demand
  failed_precondition = 9, ///< do something else first, such as initialising a variable
  aborted = 10,            ///< lost a race or a peer changed: try the whole thing again
  out_of_range = 11,       ///< end of data
  unimplemented = 12,      ///< not supported
  internal = 13,           ///< a defect of Troupe
  unavailable = 14,        ///< a task is gone or not there yet: try again later
  data_loss = 15,          ///< bytes are damaged
};

TROUPE_API std::string_view to_string(error_kind kind) noexcept;

namespace detail {

/// A part of a text. What is printed in one place does not make code in each place that joins
/// parts, and names and numbers need no stream, which costs as much as a node.
struct text_part {
  enum class kind : uint8_t { text, literal, integer, natural, printed };
  kind is = kind::text;
  std::string_view text = {};
  int64_t integer = 0;
  uint64_t natural = 0;
  const void* what = nullptr;
  void (*print)(std::ostream& out, const void* what) = nullptr;
};

template <class T>
constexpr bool is_plain_integer = std::is_integral_v<T> && sizeof(T) > 1 &&
                                  !std::is_same_v<T, wchar_t> && !std::is_same_v<T, char16_t> &&
                                  !std::is_same_v<T, char32_t>;

inline std::string_view text_at(const char* what) noexcept {
  return what ? std::string_view{what} : std::string_view{};
}

template <class T>
text_part part_of(const T& what) noexcept {
  using kind = text_part::kind;
  if constexpr (std::is_convertible_v<const T&, const char*>)
    return {.is = kind::literal, .text = text_at(what)};
  else if constexpr (std::is_same_v<T, std::string> || std::is_same_v<T, std::string_view>)
    return {.text = what};
  else if constexpr (is_plain_integer<T> && std::is_signed_v<T>)
    return {.is = kind::integer, .integer = what};
  else if constexpr (is_plain_integer<T>)
    return {.is = kind::natural, .natural = what};
  else
    return {.is = kind::printed, .what = &what, .print = [](std::ostream& out, const void* it) {
              out << *static_cast<const T*>(it);
            }};
}

TROUPE_API std::string join(std::initializer_list<text_part> parts);
/// The same for an error: what stands between single quotes, such as a name, is escaped
/// (printable.hpp), whatever it holds.
TROUPE_API std::string join_error(std::initializer_list<text_part> parts);

} // namespace detail

/// Joins the parts as an ostream would print them.
template <class... Ts>
std::string concat(const Ts&... parts) {
  return detail::join({detail::part_of(parts)...});
}

/// What an error is about, as far as it is known; else empty.
struct error_origin {
  std::string op = {};      ///< "MatMul"
  std::string node = {};    ///< its name, "layer1/product"
  std::string task = {};    ///< where it happened, "/job:worker/task:1"
  uint64_t incarnation = 0; ///< of that task
  bool state_lost = false;  ///< what a session had on the task is gone with it, and this says so
};

/// Success, or an error's kind and text. One pointer wide; success costs no allocation.
class [[nodiscard]] TROUPE_API status {
public:
  status() noexcept = default;
  /// The message may have lines, and is printable: other control characters in it, and what is no
  /// UTF-8, are escaped.
  status(error_kind kind, std::string message);
  status(const status& other);
  status& operator=(const status& other);
  status(status&&) noexcept = default;
  status& operator=(status&&) noexcept = default;
  ~status() = default;

  bool ok() const noexcept { return what_ == nullptr; }
  explicit operator bool() const noexcept { return ok(); }
  error_kind kind() const noexcept { return what_ ? what_->kind : error_kind::ok; }
  const std::string& message() const noexcept;

  /// Returns the same error with `context` put before its text; success stays success.
  status within(std::string_view context) &&;

  /// Notes what the error is about; what was noted first stays. The text is left as it is.
  status about(std::string_view op, std::string_view node) &&;
  status on_task(std::string_view task) &&;
  status of_incarnation(uint64_t which) &&;
  status of_lost_state() &&;
  const error_origin& origin() const noexcept;

  /// Returns the same error with more behind its text; success stays success.
  status followed_by(std::string_view more) &&;

private:
  struct what {
    error_kind kind;
    std::string message;
    error_origin origin = {};
  };
  std::unique_ptr<what> what_;
};

TROUPE_API std::ostream& operator<<(std::ostream& out, const status& what);

/// Builds an error from the parts of its text.
template <class... Ts>
status failure(error_kind kind, const Ts&... parts) {
  return status{kind, detail::join_error({detail::part_of(parts)...})};
}

template <class... Ts>
status invalid(const Ts&... parts) {
  return status{error_kind::invalid_argument, detail::join_error({detail::part_of(parts)...})};
}

namespace detail {
/// Throws the error as troupe::error (types/error.hpp).
[[noreturn]] TROUPE_API void throw_error(const status& why);
/// Throws for an index that is not in [0, count): `kind` is "input", `owner` whose inputs they are.
[[noreturn]] TROUPE_API void throw_bad_index(std::string_view owner, std::string_view kind,
                                             int64_t index, int64_t count);

/// Returns the index as one of a container if it is in [0, count), and throws otherwise.
inline size_t checked_index(std::string_view owner, std::string_view kind, int64_t index,
                            size_t count) {
  if (static_cast<uint64_t>(index) >= count) [[unlikely]]
    throw_bad_index(owner, kind, index, static_cast<int64_t>(count));
  return static_cast<size_t>(index);
}
} // namespace detail

/// A value, or the error that took its place.
template <class T>
class [[nodiscard]] result {
public:
  using value_type = T;

  result(T value) : content_(std::in_place_index<0>, std::move(value)) {}
  /// Takes an error; success without a value is a defect of who returns it, and becomes an error.
  result(troupe::status error) : content_(std::in_place_index<1>, std::move(error)) {
    if (std::get<1>(content_).ok())
      content_.template emplace<1>(error_kind::internal,
                                   "a result has neither a value nor an error");
  }

  bool ok() const noexcept { return content_.index() == 0; }
  explicit operator bool() const noexcept { return ok(); }
  /// The value. Throws troupe::error where there is an error instead.
  T& operator*() & { return *held(); }
  const T& operator*() const& { return *held(); }
  T&& operator*() && { return std::move(*held()); }
  T* operator->() { return held(); }
  const T* operator->() const { return held(); }
  /// Returns success or a copy of the error.
  troupe::status status() const { return ok() ? troupe::status{} : std::get<1>(content_); }

private:
  T* held() {
    auto* value = std::get_if<0>(&content_);
    if (!value) [[unlikely]]
      detail::throw_error(std::get<1>(content_));
    return value;
  }
  const T* held() const { return const_cast<result*>(this)->held(); }

  std::variant<T, troupe::status> content_;
};

/// Prints `file.cpp:12` without the file's folders.
TROUPE_API std::string to_string(const std::source_location& where);

namespace detail {
inline status as_status(status what) { return what; }
template <class T>
status as_status(const result<T>& what) {
  return what.status();
}
} // namespace detail

} // namespace troupe

#define TROUPE_CONCAT_(a, b) a##b
#define TROUPE_CONCAT(a, b) TROUPE_CONCAT_(a, b)

/// Returns the error of `expression` (a status or a result) from the calling function, if it is
/// one.
#define TROUPE_TRY(...)                                                                            \
  do {                                                                                             \
    if (auto troupe_outcome = (__VA_ARGS__); !troupe_outcome)                                      \
      return ::troupe::detail::as_status(std::move(troupe_outcome));                               \
  } while (false)

/// Declares `declaration` with the value of a result, or returns the error from the calling
/// function.
#define TROUPE_ASSIGN(declaration, ...)                                                            \
  auto TROUPE_CONCAT(troupe_outcome_, __LINE__) = (__VA_ARGS__);                                   \
  if (!TROUPE_CONCAT(troupe_outcome_, __LINE__))                                                   \
    return TROUPE_CONCAT(troupe_outcome_, __LINE__).status();                                      \
  declaration = *std::move(TROUPE_CONCAT(troupe_outcome_, __LINE__))
