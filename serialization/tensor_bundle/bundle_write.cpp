#include "troupe/serialization/graph_def/values.hpp"
#include "troupe/serialization/storage/crc32c.hpp"
#include "troupe/serialization/tensor_bundle/bundle_files.hpp"
#include "troupe/serialization/tensor_bundle/slice_extents.hpp"
#include "troupe/serialization/tensor_bundle/slice_key.hpp"
#include "troupe/serialization/tensor_bundle/sorted_table.hpp"
#include "troupe/serialization/tensor_bundle/tensor_bundle.hpp"
#include "troupe/serialization/tensor_bundle/tensor_bundle.pb.h"
#include "troupe/serialization/tensor_bundle/varint.hpp"

#include <algorithm>
#include <vector>

namespace troupe {
namespace {

constexpr size_t written_part = size_t{1} << 20;

std::string temporary_data_path(const std::string& prefix) {
  return bundle_data_path(prefix, 0, 1) + ".new";
}

} // namespace

result<tensor_bundle_writer> tensor_bundle_writer::begin(file_system& files,
                                                         const std::string& prefix, bool partial) {
  tensor_bundle_writer writer;
  writer.files_ = &files;
  writer.prefix_ = prefix;
  writer.partial_ = partial;
  TROUPE_ASSIGN(writer.data_, files.create(temporary_data_path(prefix)));
  tensor_bundle::BundleHeaderProto header;
  header.set_num_shards(1);
  header.mutable_version()->set_producer(1);
  writer.rows_[""] = header.SerializeAsString();
  return writer;
}

status tensor_bundle_writer::append_strings(const tensor& value, uint32_t& crc) {
  std::string part;
  for (const auto& text : value.values<std::string>()) {
    uint64_t length = text.size();
    append_varint(part, length);
    crc = crc32c(std::as_bytes(std::span{&length, 1}).first(length > UINT32_MAX ? 8 : 4), crc);
  }
  auto stored = masked_crc(crc);
  crc = crc32c(std::as_bytes(std::span{&stored, 1}), crc);
  part.append(reinterpret_cast<const char*>(&stored), sizeof stored);
  for (const auto& text : value.values<std::string>()) {
    crc = crc32c(std::as_bytes(std::span{text}), crc);
    if (part.size() + text.size() > written_part) {
      TROUPE_TRY(data_->append(part));
      part.clear();
    }
    part += text;
  }
  return data_->append(part);
}

status tensor_bundle_writer::add_row(std::string key, const tensor& value, std::string_view name) {
  if (value.empty() || !value.on_host())
    return invalid(prefix_, ": tensor '", name,
                   value.empty() ? "' holds nothing" : "' does not lie on the host");
  tensor_bundle::BundleEntryProto entry;
  entry.set_dtype(graph_def::to_proto(value.type()));
  *entry.mutable_shape() = graph_def::to_proto(partial_shape{value.dims()});
  const auto begin = data_->size();
  uint32_t crc = 0;
  if (value.type() == dtype::string) {
    TROUPE_TRY(append_strings(value, crc));
  } else {
    std::span unwritten{static_cast<const std::byte*>(value.raw()), value.bytes()};
    // Racy updates may write to the memory meanwhile: the hashed bytes must be the written ones.
    std::vector<std::byte> copy(std::min(written_part, unwritten.size()));
    for (; !unwritten.empty();
         unwritten = unwritten.subspan(std::min(written_part, unwritten.size()))) {
      std::span part{copy.data(), std::min(written_part, unwritten.size())};
      std::ranges::copy(unwritten.first(part.size()), part.begin());
      crc = crc32c(part, crc);
      TROUPE_TRY(data_->append(part));
    }
  }
  entry.set_offset(static_cast<int64_t>(begin));
  entry.set_size(static_cast<int64_t>(data_->size() - begin));
  entry.set_crc32c(masked_crc(crc));
  rows_[std::move(key)] = entry.SerializeAsString();
  return {};
}

status tensor_bundle_writer::add(const std::string& name, const tensor& value) {
  if (name.empty() || name.front() == '\0')
    return invalid(prefix_, ": '", name, "' is not a valid name of a tensor");
  if (rows_.contains(name) || partitioned_.contains(name))
    return invalid(prefix_, ": tensor '", name, "' is added twice");
  return add_row(name, value, name);
}

status tensor_bundle_writer::add_slice(const std::string& name, const shape& full_shape,
                                       std::span<const int64_t> offset, const tensor& value) {
  if (name.empty() || name.front() == '\0')
    return invalid(prefix_, ": '", name, "' is not a valid name of a tensor");
  auto context = concat(prefix_, ": tensor '", name, "'");
  auto outcome = check_slice(full_shape, offset, value.dims());
  if (!outcome)
    return std::move(outcome).with_context(context);
  if (rows_.contains(name))
    return invalid(context, " is added twice");
  auto [position, is_new] = partitioned_.try_emplace(name, partitioned{value.type(), full_shape});
  auto& variable = position->second;
  if (variable.type != value.type() || variable.full_shape != full_shape)
    return invalid(context, " has slices of ", variable.type, variable.full_shape, " and of ",
                   value.type(), full_shape);
  tensor_slice slice{{offset.begin(), offset.end()}, value.dims()};
  auto key = slice_key(name, extents_of(full_shape, slice));
  if (rows_.contains(key))
    return invalid(context, " has a slice twice");
  TROUPE_TRY(add_row(std::move(key), value, name));
  variable.slices.push_back(std::move(slice));
  return {};
}

status tensor_bundle_writer::finish() {
  for (const auto& [name, variable] : partitioned_) {
    auto outcome = partial_ ? check_disjoint(variable.slices)
                            : check_cover(variable.full_shape, variable.slices);
    if (!outcome)
      return std::move(outcome).with_context(concat(prefix_, ": tensor '", name, "'"));
    tensor_bundle::BundleEntryProto entry;
    entry.set_dtype(graph_def::to_proto(variable.type));
    *entry.mutable_shape() = graph_def::to_proto(partial_shape{variable.full_shape});
    for (const auto& slice : variable.slices)
      write_extents(extents_of(variable.full_shape, slice), *entry.add_slices());
    rows_[name] = entry.SerializeAsString();
  }
  TROUPE_TRY(data_->sync());
  TROUPE_TRY(files_->rename(temporary_data_path(prefix_), bundle_data_path(prefix_, 0, 1)));
  TROUPE_TRY(files_->sync_folder(folder_of(prefix_)));
  std::vector<table_row> rows;
  for (const auto& [key, value] : rows_)
    rows.push_back({key, value});
  return replace_file(*files_, bundle_index_path(prefix_), write_sorted_table(rows));
}

} // namespace troupe
