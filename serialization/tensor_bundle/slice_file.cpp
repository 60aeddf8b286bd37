#include "troupe/serialization/tensor_bundle/slice_file.hpp"

#include "troupe/serialization/graph_def/values.hpp"
#include "troupe/serialization/tensor_bundle/no_such_tensor.hpp"
#include "troupe/serialization/tensor_bundle/slice_extents.hpp"
#include "troupe/serialization/tensor_bundle/sorted_table.hpp"

#include <algorithm>

namespace troupe {
namespace {

using namespace tensor_bundle;

constexpr uint64_t max_total_bytes = uint64_t{4} << 30;
constexpr size_t largest_message = (size_t{1} << 31) - (size_t{1} << 20);

template <class T, class List>
void list(const tensor& from, List& to) {
  to.Reserve(static_cast<int>(from.elements()));
  for (auto element : from.values<T>())
    to.Add(element);
}

template <class T, class List>
void list_bits(const tensor& from, List& to) {
  for (auto element : from.values<T>())
    to.Add(element.bits);
}

template <class T, class List>
void list_pairs(const tensor& from, List& to) {
  for (auto element : from.values<std::complex<T>>()) {
    to.Add(element.real());
    to.Add(element.imag());
  }
}

// TensorFlow reads only the lists of values, not tensor_content.
void list_values(const tensor& from, graph_def::TensorProto& to) {
  switch (from.type()) {
    case dtype::variant:
    case dtype::none: break;
    case dtype::boolean: return list<bool>(from, *to.mutable_bool_val());
    case dtype::u8: return list<uint8_t>(from, *to.mutable_int_val());
    case dtype::u16: return list<uint16_t>(from, *to.mutable_int_val());
    case dtype::u32: return list<uint32_t>(from, *to.mutable_uint32_val());
    case dtype::u64: return list<uint64_t>(from, *to.mutable_uint64_val());
    case dtype::i8: return list<int8_t>(from, *to.mutable_int_val());
    case dtype::i16: return list<int16_t>(from, *to.mutable_int_val());
    case dtype::i32: return list<int32_t>(from, *to.mutable_int_val());
    case dtype::i64: return list<int64_t>(from, *to.mutable_int64_val());
    case dtype::f16: return list_bits<float16>(from, *to.mutable_half_val());
    case dtype::bf16: return list_bits<bfloat16>(from, *to.mutable_half_val());
    case dtype::f32: return list<float>(from, *to.mutable_float_val());
    case dtype::f64: return list<double>(from, *to.mutable_double_val());
    case dtype::c64: return list_pairs<float>(from, *to.mutable_scomplex_val());
    case dtype::c128: return list_pairs<double>(from, *to.mutable_dcomplex_val());
    case dtype::string:
      for (const auto& text : from.values<std::string>())
        to.add_string_val(text);
  }
}

// An upper bound of the size as a message.
size_t size_of_values(const tensor& value) {
  if (value.type() != dtype::string)
    return static_cast<size_t>(value.elements()) * std::max<size_t>(10, size_of(value.type()));
  size_t bytes = 0;
  for (const auto& text : value.values<std::string>())
    bytes += text.size() + 6;
  return bytes;
}

status damaged_file(const std::string& path, const auto&... reasons) {
  return failure(error_kind::data_loss, path, ": ", reasons...);
}

template <class Message>
bool parse_message(Message& message, std::string_view bytes) {
  return bytes.size() <= INT32_MAX &&
         message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
}

} // namespace

bool matches_pattern(std::string_view name, std::string_view pattern) noexcept {
  size_t position = 0, pattern_position = 0, star = pattern.npos, retry_position = 0;
  while (position < name.size()) {
    if (pattern_position < pattern.size() && pattern[pattern_position] == '*') {
      star = pattern_position++;
      retry_position = position;
    } else if (pattern_position < pattern.size() &&
               (pattern[pattern_position] == '?' || pattern[pattern_position] == name[position])) {
      ++pattern_position;
      ++position;
    } else if (star != pattern.npos) {
      pattern_position = star + 1;
      position = ++retry_position;
    } else {
      return false;
    }
  }
  while (pattern_position < pattern.size() && pattern[pattern_position] == '*')
    ++pattern_position;
  return pattern_position == pattern.size();
}

result<slice_file_reader> slice_file_reader::open(file_system& files, const std::string& pattern) {
  slice_file_reader reader;
  reader.pattern_ = pattern;
  std::vector<std::string> paths;
  if (pattern.find_first_of("?*") == pattern.npos) {
    paths.push_back(pattern);
  } else {
    auto folder = folder_of(pattern);
    TROUPE_ASSIGN(auto files_in_folder, files.list(folder));
    for (const auto& info : files_in_folder)
      if (!info.is_folder && matches_pattern(info.name, name_of_file(pattern)))
        paths.push_back(folder == "." ? info.name : path_in(folder, info.name));
  }
  if (paths.empty())
    return failure(error_kind::not_found, pattern, ": no file has such a name");
  auto bytes_left = max_total_bytes;
  for (const auto& path : paths)
    TROUPE_TRY(reader.add(files, path, bytes_left));
  std::ranges::sort(reader.entries_, {}, &bundle_entry::name);
  for (auto& entry : reader.entries_) {
    auto disjoint = check_disjoint(entry.slices);
    if (!disjoint)
      return damaged_file(pattern, "tensor '", entry.name, "': ", disjoint.message());
    entry.complete = check_cover(entry.dims, entry.slices).ok();
  }
  return reader;
}

status slice_file_reader::add(file_system& files, const std::string& path, uint64_t& bytes_left) {
  TROUPE_ASSIGN(auto content, read_whole(files, path, bytes_left));
  bytes_left -= content.size();
  auto rows = read_sorted_table(content);
  if (!rows)
    return rows.status().with_context(path);
  SavedTensorSlices first;
  if (rows->empty() || !rows->front().key.empty() || !parse_message(first, rows->front().value))
    return damaged_file(path, "has no list of its tensors: it is no checkpoint of TensorFlow");
  if (first.meta().versions().min_consumer() > 1)
    return failure(error_kind::unimplemented, path, ": needs a reader of version ",
                   first.meta().versions().min_consumer());
  std::map<std::string_view, std::string*> by_key;
  for (auto& row : *rows)
    by_key[row.key] = &row.value;
  for (const auto& stored_tensor : first.meta().tensor()) {
    bundle_entry added{.name = stored_tensor.name()};
    auto within_tensor = [&](const status& cause) {
      return damaged_file(path, "tensor '", stored_tensor.name(), "': ", cause.message());
    };
    auto type = graph_def::read_stored_type(stored_tensor.type());
    if (!type && type.status().kind() != error_kind::unimplemented)
      return within_tensor(type.status());
    added.type = type ? *type : dtype::none;
    auto dims = graph_def::read_shape(stored_tensor.shape());
    if (!dims || !dims->fully_known())
      return within_tensor(dims ? invalid("its shape is not known") : dims.status());
    added.dims = dims->known();
    for (const auto& stored_slice : stored_tensor.slice()) {
      auto extents = read_extents(stored_slice);
      auto slice = slice_within(added.dims, extents);
      if (!slice)
        return within_tensor(slice.status());
      auto row = by_key.find(slice_key(stored_tensor.name(), extents));
      if (row == by_key.end())
        return within_tensor(invalid("its slice ", slice->dims, " is missing"));
      if (row->second->size() <
          static_cast<uint64_t>(slice->dims.elements())) // a byte each, at least
        return within_tensor(
            invalid("its slice ", slice->dims, " has ", row->second->size(), " bytes"));
      rows_[slice_key(stored_tensor.name(), extents_of(added.dims, *slice))] =
          std::move(*row->second);
      added.slices.push_back(*std::move(slice));
    }
    auto known = std::ranges::find(entries_, added.name, &bundle_entry::name);
    if (known == entries_.end()) {
      entries_.push_back(std::move(added));
    } else if (known->type != added.type || known->dims != added.dims) {
      return within_tensor(invalid("it has another type or shape in another of the files"));
    } else {
      known->slices.insert(known->slices.end(), added.slices.begin(), added.slices.end());
    }
  }
  return {};
}

const bundle_entry* slice_file_reader::find(std::string_view name) const noexcept {
  auto entry = std::ranges::lower_bound(entries_, name, {}, &bundle_entry::name);
  return entry != entries_.end() && entry->name == name ? &*entry : nullptr;
}

result<tensor> slice_file_reader::read(std::string_view name) const {
  const auto* entry = find(name);
  if (!entry)
    return no_such_tensor(pattern_, name, entries_);
  return read_slice(name, std::vector<int64_t>(static_cast<size_t>(entry->dims.rank())),
                    entry->dims);
}

result<tensor> slice_file_reader::read_slice(std::string_view name, std::span<const int64_t> offset,
                                             const shape& dims) const {
  const auto* entry = find(name);
  if (!entry)
    return no_such_tensor(pattern_, name, entries_);
  auto context = concat(pattern_, ": tensor '", name, "'");
  if (entry->type == dtype::none)
    return failure(error_kind::unimplemented, context, " has a type that Troupe does not have");
  auto outcome = check_slice(entry->dims, offset, dims);
  if (!outcome)
    return std::move(outcome).with_context(context);
  int64_t available = 0;
  for (const auto& slice : entry->slices)
    available += count_overlap(slice.offset, slice.dims, offset, dims);
  if (available != dims.elements())
    return failure(error_kind::failed_precondition, context, " has ", available, " of the ",
                   dims.elements(),
                   " elements: it is a shard, and other checkpoints have the other elements");
  TROUPE_ASSIGN(auto value, tensor::make(entry->type, dims));
  for (const auto& slice : entry->slices) {
    if (!slices_overlap(slice.offset, slice.dims, offset, dims))
      continue;
    SavedTensorSlices row;
    if (!parse_message(row, rows_.find(slice_key(name, extents_of(entry->dims, slice)))->second))
      return failure(error_kind::data_loss, context, ": its values are damaged");
    auto& data = *row.mutable_data()->mutable_data();
    data.set_dtype(graph_def::to_proto(entry->type));
    *data.mutable_tensor_shape() = graph_def::to_proto(partial_shape{slice.dims});
    graph_def::fill_budget no_fill; // the row must list all values
    auto part = graph_def::read_tensor(data, no_fill);
    if (!part)
      return failure(error_kind::data_loss, context, ": ", part.status().message());
    if (part->dims() == dims)
      return part;
    copy_overlap(*part, slice.offset, value, offset);
  }
  return value;
}

status slice_file_writer::add(const std::string& name, const shape& full_shape,
                              std::span<const int64_t> offset, const tensor& value) {
  auto context = concat(path_, ": tensor '", name, "'");
  if (name.empty())
    return invalid(path_, ": a tensor has an empty name");
  if (value.empty() || !value.on_host())
    return invalid(context, value.empty() ? " holds nothing" : " does not lie on the host");
  auto outcome = check_slice(full_shape, offset, value.dims());
  if (!outcome)
    return std::move(outcome).with_context(context);
  if (size_of_values(value) > largest_message)
    return failure(error_kind::resource_exhausted, context, ": ", value.dims(),
                   " is too large for version 1 of the format: use SaveV2");
  auto& known =
      tensors_.try_emplace(name, bundle_entry{name, value.type(), full_shape}).first->second;
  if (known.type != value.type() || known.dims != full_shape)
    return invalid(context, " has slices of ", known.type, known.dims, " and of ", value.type(),
                   full_shape);
  tensor_slice slice{{offset.begin(), offset.end()}, value.dims()};
  auto extents = extents_of(full_shape, slice);
  SavedTensorSlices row;
  auto& data = *row.mutable_data();
  data.set_name(name);
  write_extents(extents, *data.mutable_slice());
  list_values(value, *data.mutable_data());
  if (!rows_.try_emplace(slice_key(name, extents), row.SerializeAsString()).second)
    return invalid(context, " is added twice");
  known.slices.push_back(std::move(slice));
  return {};
}

status slice_file_writer::finish() {
  SavedTensorSlices first;
  auto& meta = *first.mutable_meta();
  meta.mutable_versions()->set_producer(1);
  for (const auto& [name, entry] : tensors_) {
    auto disjoint = check_disjoint(entry.slices);
    if (!disjoint)
      return std::move(disjoint).with_context(concat(path_, ": tensor '", name, "'"));
    auto& description = *meta.add_tensor();
    description.set_name(name);
    description.set_type(graph_def::to_proto(entry.type));
    *description.mutable_shape() = graph_def::to_proto(partial_shape{entry.dims});
    for (const auto& slice : entry.slices)
      write_extents(extents_of(entry.dims, slice), *description.add_slice());
  }
  std::vector<table_row> rows{{"", first.SerializeAsString()}};
  for (auto& [key, value] : rows_)
    rows.push_back({key, std::move(value)});
  return replace_file(*files_, path_, write_sorted_table(rows));
}

} // namespace troupe
