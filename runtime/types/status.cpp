#include "troupe/runtime/types/status.hpp"

#include "troupe/runtime/types/error.hpp"
#include "troupe/runtime/types/printable.hpp"
#include "troupe/runtime/types/source_line.hpp"

#include <charconv>
#include <iterator>
#include <optional>
#include <sstream>

namespace troupe {
namespace detail {

namespace {

template <class Integer>
void append(std::string& text, Integer number) {
  char digits[24];
  text.append(digits, std::to_chars(digits, std::end(digits), number).ptr);
}

// Tracks whether the text joined so far has an open single quote, as before a name.
class quote_state {
public:
  bool is_open() const noexcept { return open_; }

  // Advances past `literal`, which has been appended to `joined`.
  void pass(std::string_view literal, std::string_view joined) noexcept {
    if (literal.find('\'') == literal.npos)
      return;
    if (literal == "'") {
      open_ = !open_;
      return;
    }
    constexpr std::string_view before_names = " ([{=,:\"\n";
    open_ = literal.back() == '\'' && before_names.find(joined[joined.size() - 2]) != joined.npos;
  }

private:
  bool open_ = false;
};

// Appends a name that stands between single quotes, escaped.
void append_name(std::string_view name, std::string& text) {
  auto quoted = in_quotes(name, '\'');
  text.append(quoted, 1, quoted.size() - 2);
}

// `escapes` is set for errors: text between single quotes is escaped.
std::string joined_parts(std::initializer_list<text_part> parts, bool escapes) {
  std::string joined;
  quote_state quotes;
  std::optional<std::ostringstream> out;
  for (const auto& part : parts)
    switch (part.is) {
      case text_part::kind::text:
        if (escapes && quotes.is_open())
          append_name(part.text, joined);
        else
          joined += part.text;
        break;
      case text_part::kind::literal:
        joined += part.text;
        quotes.pass(part.text, joined);
        break;
      case text_part::kind::integer: append(joined, part.integer); break;
      case text_part::kind::natural: append(joined, part.natural); break;
      case text_part::kind::printed: {
        if (!out)
          out.emplace();
        out->str({});
        part.print(*out, part.value);
        auto is_quote = out->view() == "'";
        if (escapes && quotes.is_open() && !is_quote)
          joined += printable(out->view());
        else
          joined += out->view();
        if (is_quote)
          quotes.pass("'", joined);
      }
    }
  return joined;
}

} // namespace

std::string join(std::initializer_list<text_part> parts) { return joined_parts(parts, false); }

std::string join_error(std::initializer_list<text_part> parts) { return joined_parts(parts, true); }

void throw_error(const status& reason) { throw error{reason}; }

void throw_bad_index(std::string_view owner, std::string_view kind, int64_t index, int64_t count) {
  throw error{invalid(owner, ": there is no ", kind, ' ', index, "; it has ", count)};
}

} // namespace detail

std::string_view to_string(error_kind kind) noexcept {
  switch (kind) {
    case error_kind::ok: return "ok";
    case error_kind::cancelled: return "cancelled";
    case error_kind::invalid_argument: return "invalid_argument";
    case error_kind::deadline_exceeded: return "deadline_exceeded";
    case error_kind::not_found: return "not_found";
    case error_kind::already_exists: return "already_exists";
    case error_kind::resource_exhausted: return "resource_exhausted";
    case error_kind::failed_precondition: return "failed_precondition";
    case error_kind::aborted: return "aborted";
    case error_kind::out_of_range: return "out_of_range";
    case error_kind::unimplemented: return "unimplemented";
    case error_kind::internal: return "internal";
    case error_kind::unavailable: return "unavailable";
    case error_kind::data_loss: return "data_loss";
  }
  return "unknown";
}

status::status(error_kind kind, std::string message)
    : details_(kind == error_kind::ok ? nullptr : new details{kind, printable_lines(message), {}}) {
}

status::status(const status& other)
    : details_(other.details_ ? new details{*other.details_} : nullptr) {}

status& status::operator=(const status& other) {
  if (this != &other)
    details_.reset(other.details_ ? new details{*other.details_} : nullptr);
  return *this;
}

const std::string& status::message() const noexcept {
  static const std::string none;
  return details_ ? details_->message : none;
}

status status::with_origin(std::string_view op, std::string_view node) && {
  if (details_ && details_->origin.node.empty()) {
    details_->origin.op = op;
    details_->origin.node = node;
  }
  return std::move(*this);
}

status status::with_task(std::string_view task) && {
  if (details_ && details_->origin.task.empty())
    details_->origin.task = task;
  return std::move(*this);
}

status status::with_incarnation(uint64_t incarnation) && {
  if (details_ && details_->origin.incarnation == 0)
    details_->origin.incarnation = incarnation;
  return std::move(*this);
}

status status::with_lost_state() && {
  if (details_)
    details_->origin.state_lost = true;
  return std::move(*this);
}

const error_origin& status::origin() const noexcept {
  static const error_origin unknown;
  return details_ ? details_->origin : unknown;
}

status status::with_suffix(std::string_view suffix) && {
  if (details_)
    details_->message += printable_lines(suffix);
  return std::move(*this);
}

status status::with_context(std::string_view context) && {
  if (details_ && !context.empty())
    details_->message.insert(0, printable_lines(context) + ": ");
  return std::move(*this);
}

std::ostream& operator<<(std::ostream& out, const status& outcome) {
  out << to_string(outcome.kind());
  return outcome.ok() ? out : out << ": " << outcome.message();
}

bool has_user_line(const std::source_location& where) noexcept {
  std::string_view file = where.file_name();
  return where.line() != 0 && !file.starts_with("/usr/include/") &&
         file.find("/include/c++/") == file.npos;
}

std::string to_string(const std::source_location& where) {
  if (!has_user_line(where))
    return "line unknown";
  std::string_view file = where.file_name();
  if (auto slash = file.rfind('/'); slash != file.npos)
    file.remove_prefix(slash + 1);
  return concat(file, ':', where.line());
}

} // namespace troupe
