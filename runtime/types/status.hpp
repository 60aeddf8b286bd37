// The return types of operations that can fail: a status, or a result that holds a value or a
// status.
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

/// The kind of an error, which implies what a caller can do next. The numbers are TensorFlow's
/// canonical codes.
enum class error_kind : uint8_t {
  ok = 0,
  cancelled = 1,           ///< the caller cancelled the operation
  invalid_argument = 3,    ///< correct the call; the same call fails again
  deadline_exceeded = 4,   ///< the operation may still be making progress: allow more time
  not_found = 5,           ///< correct the name
  already_exists = 6,      ///< choose another name
  resource_exhausted = 8,  ///< free a resource or request less
  failed_precondition = 9, ///< an earlier action is missing, such as initializing a variable
  aborted = 10,            ///< a race was lost or a peer changed: retry the whole operation
  out_of_range = 11,       ///< end of data
  unimplemented = 12,      ///< not supported
  internal = 13,           ///< a defect of Troupe
  unavailable = 14,        ///< a task has stopped or has not started: retry later
  data_loss = 15,          ///< bytes are corrupted
};

TROUPE_API std::string_view to_string(error_kind kind) noexcept;

namespace detail {

/// A part of a text. Type erasure keeps the formatting code in one place instead of in each call of
/// concat(). Names and numbers need no stream, because building a stream costs as much as a node.
struct text_part {
  enum class kind : uint8_t { text, literal, integer, natural, printed };
  kind is = kind::text;
  std::string_view text = {};
  int64_t integer = 0;
  uint64_t natural = 0;
  const void* value = nullptr;
  void (*print)(std::ostream& out, const void* value) = nullptr;
};

template <class T>
constexpr bool is_plain_integer = std::is_integral_v<T> && (sizeof(T) > 1) &&
                                  !std::is_same_v<T, wchar_t> && !std::is_same_v<T, char16_t> &&
                                  !std::is_same_v<T, char32_t>;

inline std::string_view text_at(const char* text) noexcept {
  return text ? std::string_view{text} : std::string_view{};
}

template <class T>
text_part part_of(const T& value) noexcept {
  using kind = text_part::kind;
  if constexpr (std::is_convertible_v<const T&, const char*>)
    return {.is = kind::literal, .text = text_at(value)};
  else if constexpr (std::is_same_v<T, std::string> || std::is_same_v<T, std::string_view>)
    return {.text = value};
  else if constexpr (is_plain_integer<T> && std::is_signed_v<T>)
    return {.is = kind::integer, .integer = value};
  else if constexpr (is_plain_integer<T>)
    return {.is = kind::natural, .natural = value};
  else
    return {
        .is = kind::printed, .value = &value, .print = [](std::ostream& out, const void* printed) {
          out << *static_cast<const T*>(printed);
        }};
}

TROUPE_API std::string join(std::initializer_list<text_part> parts);
/// Like join(), for an error: text between single quotes, such as a name, is escaped
/// (printable.hpp).
TROUPE_API std::string join_error(std::initializer_list<text_part> parts);

} // namespace detail

/// Joins the parts as an ostream would print them.
template <class... Ts>
std::string concat(const Ts&... parts) {
  return detail::join({detail::part_of(parts)...});
}

/// The subject of an error. A field that is not known is empty.
struct error_origin {
  std::string op = {};      ///< "MatMul"
  std::string node = {};    ///< the name of the node, "layer1/product"
  std::string task = {};    ///< the task on which the error occurred, "/job:worker/task:1"
  uint64_t incarnation = 0; ///< the incarnation of that task
  bool state_lost = false;  ///< the error reports that a session's state on the task was lost
};

/// Success, or an error's kind and text. One pointer wide; success costs no allocation.
class [[nodiscard]] TROUPE_API status {
public:
  status() noexcept = default;
  /// The message may have several lines. Other control characters and invalid UTF-8 in it are
  /// escaped.
  status(error_kind kind, std::string message);
  status(const status& other);
  status& operator=(const status& other);
  status(status&&) noexcept = default;
  status& operator=(status&&) noexcept = default;
  ~status() = default;

  bool ok() const noexcept { return details_ == nullptr; }
  explicit operator bool() const noexcept { return ok(); }
  error_kind kind() const noexcept { return details_ ? details_->kind : error_kind::ok; }
  const std::string& message() const noexcept;

  /// Returns the same error with `context` and ": " before its text. Success stays success.
  status with_context(std::string_view context) &&;

  /// Records the subject of the error, unless one is recorded already. The text does not change.
  status with_origin(std::string_view op, std::string_view node) &&;
  status with_task(std::string_view task) &&;
  status with_incarnation(uint64_t incarnation) &&;
  status with_lost_state() &&;
  const error_origin& origin() const noexcept;

  /// Returns the same error with text appended. Success stays success.
  status with_suffix(std::string_view suffix) &&;

private:
  struct details {
    error_kind kind;
    std::string message;
    error_origin origin = {};
  };
  std::unique_ptr<details> details_;
};

TROUPE_API std::ostream& operator<<(std::ostream& out, const status& outcome);

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
[[noreturn]] TROUPE_API void throw_error(const status& reason);
/// Throws for an index outside [0, count). `kind` is "input", for instance; `owner` has the inputs.
[[noreturn]] TROUPE_API void throw_bad_index(std::string_view owner, std::string_view kind,
                                             int64_t index, int64_t count);

/// Returns the index as a size_t if it is in [0, count), and throws otherwise.
inline size_t checked_index(std::string_view owner, std::string_view kind, int64_t index,
                            size_t count) {
  if (static_cast<uint64_t>(index) >= count) [[unlikely]]
    throw_bad_index(owner, kind, index, static_cast<int64_t>(count));
  return static_cast<size_t>(index);
}
} // namespace detail

/// A value, or an error in its place.
template <class T>
class [[nodiscard]] result {
public:
  using value_type = T;

  result(T value) : content_(std::in_place_index<0>, std::move(value)) {}
  /// Takes an error. A success without a value is a defect of the caller and becomes an error.
  result(troupe::status error) : content_(std::in_place_index<1>, std::move(error)) {
    if (std::get<1>(content_).ok())
      content_.template emplace<1>(error_kind::internal,
                                   "a result has neither a value nor an error");
  }

  bool ok() const noexcept { return content_.index() == 0; }
  explicit operator bool() const noexcept { return ok(); }
  /// Returns the value. Throws troupe::error if the result holds an error.
  T& operator*() & { return *held(); }
  const T& operator*() const& { return *held(); }
  T&& operator*() && { return std::move(*held()); }
  T* operator->() { return held(); }
  const T* operator->() const { return held(); }
  /// Returns success, or a copy of the error.
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

/// Returns "file.cpp:12", without the file's folders.
TROUPE_API std::string to_string(const std::source_location& where);

namespace detail {
inline status as_status(status outcome) { return outcome; }
template <class T>
status as_status(const result<T>& outcome) {
  return outcome.status();
}
} // namespace detail

} // namespace troupe

#define TROUPE_CONCAT_(a, b) a##b
#define TROUPE_CONCAT(a, b) TROUPE_CONCAT_(a, b)

/// Evaluates an expression of type status or result. If it failed, returns its error from the
/// calling function.
#define TROUPE_TRY(...)                                                                            \
  do {                                                                                             \
    if (auto troupe_outcome = (__VA_ARGS__); !troupe_outcome)                                      \
      return ::troupe::detail::as_status(std::move(troupe_outcome));                               \
  } while (false)

/// Initializes `declaration` with the value of a result. If the result holds an error, returns it
/// from the calling function.
#define TROUPE_ASSIGN(declaration, ...)                                                            \
  auto TROUPE_CONCAT(troupe_outcome_, __LINE__) = (__VA_ARGS__);                                   \
  if (!TROUPE_CONCAT(troupe_outcome_, __LINE__))                                                   \
    return TROUPE_CONCAT(troupe_outcome_, __LINE__).status();                                      \
  declaration = *std::move(TROUPE_CONCAT(troupe_outcome_, __LINE__))
