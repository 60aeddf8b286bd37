#include "troupe/ops/lookup/shared/lookup_table.hpp"

#include "troupe/ops/kernel/copy.hpp"

#include <algorithm>

namespace troupe::ops {
namespace {

// Calls body with a std::type_identity of the keys' C++ type.
template <class Body>
auto with_key(dtype type, Body&& body) {
  switch (type) {
    case dtype::i32: return body(std::type_identity<int32_t>{});
    case dtype::i64: return body(std::type_identity<int64_t>{});
    default: return body(std::type_identity<std::string>{});
  }
}

// Fails where there would be too many axes or elements.
result<shape> joined(const shape& outer, const shape& inner) {
  std::vector<int64_t> extents{outer.begin(), outer.end()};
  extents.insert(extents.end(), inner.begin(), inner.end());
  return shape::make(extents);
}

result<tensor> make_values(const table_signature& signature, const shape& keys, allocator& memory) {
  TROUPE_ASSIGN(auto dims, joined(keys, signature.value_dims));
  return tensor::make(signature.value, dims, memory);
}

// Moves the first elements, including text. No other code may use the tensors meanwhile.
void move_elements(const tensor& from, const tensor& to, int64_t count) {
  if (from.type() == dtype::string)
    std::move(from.data<std::string>(), from.data<std::string>() + count, to.data<std::string>());
  else if (count > 0)
    std::memcpy(to.raw(), from.raw(), static_cast<size_t>(count) * size_of(from.type()));
}

// Compares bytes, so that a NaN equals itself.
bool equal_elements(elements_from a, elements_from b, int64_t count) noexcept {
  return with_word(a.source.type(), [&](auto word_type) {
    using T = typename decltype(word_type)::type;
    const auto* x = static_cast<const T*>(a.source.raw()) + a.first;
    const auto* y = static_cast<const T*>(b.source.raw()) + b.first;
    if constexpr (std::is_same_v<T, std::string>)
      return std::equal(x, x + count, y);
    else
      return std::memcmp(x, y, static_cast<size_t>(count) * sizeof(T)) == 0;
  });
}

// The content with text that no other tensor shares, so that it may be moved from.
result<table_content> private_text(const table_content& from) {
  table_content copied = from;
  if (from.keys.type() == dtype::string) {
    TROUPE_ASSIGN(copied.keys, from.keys.clone());
  }
  if (from.values.type() == dtype::string) {
    TROUPE_ASSIGN(copied.values, from.values.clone());
  }
  return copied;
}

// The text of an element, or of several adjacent ones, for error messages.
std::string text_of(elements_from at, const shape& dims) {
  auto copied = tensor::make(at.source.type(), dims);
  if (!copied)
    return "?";
  copy_elements(at, {*copied}, dims.elements());
  return concat(*copied);
}

} // namespace

status table_pairs::reserve(int64_t more, allocator& memory) {
  auto new_count = count_ + more;
  auto has = content_.keys.empty() ? 0 : content_.keys.elements();
  if (new_count > key_index::max_keys)
    return failure(error_kind::resource_exhausted, "a table has at most ", key_index::max_keys,
                   " pairs");
  if (new_count <= has)
    return {};
  auto room = std::max({new_count, 2 * has, int64_t{8}});
  TROUPE_ASSIGN(auto keys, tensor::make(signature_->key, shape{room}, memory));
  TROUPE_ASSIGN(auto values, make_values(*signature_, shape{room}, memory));
  with_key(signature_->key, [&](auto key_type) {
    using Key = typename decltype(key_type)::type;
    index_.reserve(room, content_.keys.data<Key>(), count_);
  });
  if (count_ > 0) {
    move_elements(content_.keys, keys, count_);
    move_elements(content_.values, values, count_ * signature_->value_dims.elements());
  }
  content_ = {std::move(keys), std::move(values)};
  return {};
}

status table_pairs::put(const table_content& from, allocator& memory) {
  TROUPE_TRY(reserve(from.keys.elements(), memory));
  auto length = signature_->value_dims.elements();
  with_key(signature_->key, [&](auto key_type) {
    using Key = typename decltype(key_type)::type;
    auto* own_keys = content_.keys.data<Key>();
    with_word(signature_->value, [&](auto word_type) {
      using T = typename decltype(word_type)::type;
      auto* next = static_cast<T*>(from.values.raw());
      for (auto& key : from.keys.values<Key>()) {
        auto at = index_.find(key, own_keys);
        if (at < 0) {
          at = count_++;
          own_keys[at] = std::move(key);
          index_.add(own_keys[at], at);
        }
        std::move(next, next + length, static_cast<T*>(content_.values.raw()) + at * length);
        next += length;
      }
    });
  });
  return {};
}

status table_pairs::put_consistent(const table_content& from, allocator& memory) {
  TROUPE_TRY(reserve(from.keys.elements(), memory));
  auto length = signature_->value_dims.elements();
  return with_key(signature_->key, [&](auto key_type) -> status {
    using Key = typename decltype(key_type)::type;
    auto* own_keys = content_.keys.data<Key>();
    const auto* keys = from.keys.data<Key>();
    for (int64_t i = 0; i < from.keys.elements(); ++i) {
      elements_from value{from.values, i * length};
      if (auto at = index_.find(keys[i], own_keys); at >= 0) {
        if (!equal_elements({content_.values, at * length}, value, length))
          return invalid("the key ", text_of({from.keys, i}, {}), " comes with two values, ",
                         text_of({content_.values, at * length}, signature_->value_dims), " and ",
                         text_of(value, signature_->value_dims));
        continue;
      }
      own_keys[count_] = keys[i];
      copy_elements(value, {content_.values, count_ * length}, length);
      index_.add(own_keys[count_], count_);
      ++count_;
    }
    return {};
  });
}

void table_pairs::remove(const tensor& keys) noexcept {
  auto length = signature_->value_dims.elements();
  with_key(signature_->key, [&](auto key_type) {
    using Key = typename decltype(key_type)::type;
    auto* own_keys = content_.keys.data<Key>();
    for (const auto& key : keys.values<Key>()) {
      auto at = index_.find(key, own_keys);
      if (at < 0)
        continue;
      index_.remove(own_keys[at], at);
      auto last = --count_;
      if (at != last) { // keeps the array without gaps
        index_.move(own_keys[last], last, at);
        own_keys[at] = std::move(own_keys[last]);
      }
      with_word(signature_->value, [&](auto word_type) {
        using T = typename decltype(word_type)::type;
        auto* values = static_cast<T*>(content_.values.raw());
        if (at != last)
          std::move(values + last * length, values + (last + 1) * length, values + at * length);
        if constexpr (std::is_same_v<T, std::string>)
          std::fill_n(values + last * length, length, std::string{});
      });
      if constexpr (std::is_same_v<Key, std::string>)
        own_keys[last] = std::string{};
    }
  });
}

bool table_pairs::operator==(const table_pairs& other) const noexcept {
  if (count_ != other.count_)
    return false;
  auto length = signature_->value_dims.elements();
  return with_key(signature_->key, [&](auto key_type) {
    using Key = typename decltype(key_type)::type;
    for (int64_t i = 0; i < count_; ++i) {
      auto other_position = other.find(content_.keys.data<Key>()[i]);
      if (other_position < 0 ||
          !equal_elements({content_.values, i * length},
                          {other.content_.values, other_position * length}, length))
        return false;
    }
    return true;
  });
}

status lookup_table::declare_again(const named_state& other) {
  const auto& declared = static_cast<const lookup_table&>(other).holds_;
  auto described = [](const table_signature& signature) {
    return concat(signature.constant ? "constant " : "", signature.key, " to ", signature.value,
                  signature.value_dims);
  };
  if (auto own_text = described(holds_), declared_text = described(declared);
      own_text != declared_text)
    return invalid("table '", name(), "' exists as ", own_text, ", and is declared again as ",
                   declared_text);
  return {};
}

result<tensor> lookup_table::read() const {
  return invalid("table '", name(), "' is no single tensor: LookupTableExport copies its pairs");
}

void lookup_table::clear() {
  std::unique_lock guard{mutex_};
  pairs_ = table_pairs{holds_};
  initialized_ = false;
}

state_info lookup_table::describe() const {
  auto description = named_state::describe();
  description.holds = concat(holds_.key, " to ", holds_.value,
                             holds_.value_dims.rank() == 0 ? "" : concat(holds_.value_dims));
  std::shared_lock guard{mutex_};
  description.content =
      holds_.constant && !initialized_ ? "uninitialized" : concat(pairs_.size(), " pairs");
  const auto& room = pairs_.room();
  if (!room.keys.empty())
    description.bytes = room.keys.bytes() + room.values.bytes();
  return description;
}

int64_t lookup_table::size() const {
  std::shared_lock guard{mutex_};
  return pairs_.size();
}

status lookup_table::check_keys(const tensor& keys) const {
  if (keys.type() != holds_.key)
    return invalid("table '", name(), "' has keys of type ", holds_.key, ", got ", keys.type());
  return {};
}

status lookup_table::check_pairs(const table_content& pairs) const {
  TROUPE_TRY(check_keys(pairs.keys));
  if (pairs.values.type() != holds_.value)
    return invalid("table '", name(), "' has values of type ", holds_.value, ", got ",
                   pairs.values.type());
  auto expected_dims = joined(pairs.keys.dims(), holds_.value_dims);
  if (!expected_dims || !(*expected_dims == pairs.values.dims()))
    return invalid("table '", name(), "' has values of shape ", holds_.value_dims,
                   "; one for each of keys of shape ", pairs.keys.dims(), " cannot have shape ",
                   pairs.values.dims());
  return {};
}

status lookup_table::check_changes(std::string_view operation) const {
  if (!holds_.constant)
    return {};
  return failure(error_kind::unimplemented, "table '", name(),
                 "' is initialized once, by InitializeTable, and cannot be ", operation,
                 ": a MutableHashTable can");
}

status lookup_table::check_initialized() const {
  if (holds_.constant && !initialized_)
    return failure(error_kind::failed_precondition, "table '", name(),
                   "' is not initialized: run its initializer before it is used");
  return {};
}

status lookup_table::find(const kernel_context& at, const tensor& keys, const tensor& defaults,
                          const tensor& values) const {
  TROUPE_TRY(check_pairs({keys, values}));
  auto one_for_all = defaults.dims() == holds_.value_dims;
  if (defaults.type() != holds_.value || !(one_for_all || defaults.dims() == values.dims()))
    return invalid("default_value must be ", holds_.value, holds_.value_dims,
                   ", or one for each key, ", holds_.value, values.dims(), "; got ",
                   defaults.type(), defaults.dims());
  std::shared_lock guard{mutex_};
  TROUPE_TRY(check_initialized());
  auto length = holds_.value_dims.elements();
  auto step = one_for_all ? 0 : length;
  with_key(holds_.key, [&](auto key_type) {
    using Key = typename decltype(key_type)::type;
    with_word(holds_.value, [&](auto word_type) {
      using T = typename decltype(word_type)::type;
      const auto* sought = keys.data<Key>();
      const auto* known_values = static_cast<const T*>(pairs_.room().values.raw());
      const auto* absent = static_cast<const T*>(defaults.raw());
      auto* to = static_cast<T*>(values.raw());
      auto text = std::is_same_v<T, std::string>;
      auto cost = (std::is_same_v<Key, std::string> ? 40 : 10) +
                  static_cast<double>(length) * (text ? 20 : 0.5);
      at.parallel_for(keys.elements(), cost, [&](int64_t begin, int64_t end) {
        for (auto i = begin; i < end; ++i) {
          auto position = pairs_.find(sought[i]);
          std::copy_n(position < 0 ? absent + i * step : known_values + position * length, length,
                      to + i * length);
        }
      });
    });
  });
  return {};
}

result<table_content> lookup_table::content(allocator& memory) const {
  std::shared_lock guard{mutex_};
  TROUPE_TRY(check_initialized());
  auto count = pairs_.size();
  TROUPE_ASSIGN(auto keys, tensor::make(holds_.key, shape{count}, memory));
  TROUPE_ASSIGN(auto values, make_values(holds_, shape{count}, memory));
  if (count > 0) {
    copy_elements({pairs_.room().keys}, {keys}, count);
    copy_elements({pairs_.room().values}, {values}, values.elements());
  }
  return table_content{std::move(keys), std::move(values)};
}

status lookup_table::initialize(const table_content& from, allocator& memory) {
  TROUPE_TRY(check_pairs(from));
  if (!holds_.constant)
    return invalid("table '", name(),
                   "' may change at any time: LookupTableInsert or LookupTableImport fill it");
  table_pairs fresh{holds_};
  if (auto added = fresh.put_consistent(from, memory); !added)
    return std::move(added).with_context(concat("table '", name(), '\''));
  std::unique_lock guard{mutex_};
  if (initialized_ && !(fresh == pairs_))
    return failure(error_kind::failed_precondition, "table '", name(),
                   "' was initialized already, with other pairs");
  if (!initialized_)
    pairs_ = std::move(fresh);
  initialized_ = true;
  return {};
}

status lookup_table::insert(const table_content& from, allocator& memory) {
  TROUPE_TRY(check_changes("inserted into"));
  TROUPE_TRY(check_pairs(from));
  TROUPE_ASSIGN(auto private_content, private_text(from));
  std::unique_lock guard{mutex_};
  return pairs_.put(private_content, memory);
}

status lookup_table::replace(const table_content& from, allocator& memory) {
  if (holds_.constant)
    return initialize(from, memory);
  TROUPE_TRY(check_pairs(from));
  TROUPE_ASSIGN(auto private_content, private_text(from));
  table_pairs fresh{holds_};
  TROUPE_TRY(fresh.put(private_content, memory));
  std::unique_lock guard{mutex_};
  std::swap(pairs_, fresh); // the old pairs are freed after the lock is released
  guard.unlock();
  return {};
}

status lookup_table::remove(const tensor& keys) {
  TROUPE_TRY(check_changes("removed from"));
  TROUPE_TRY(check_keys(keys));
  std::unique_lock guard{mutex_};
  pairs_.remove(keys);
  return {};
}

} // namespace troupe::ops
