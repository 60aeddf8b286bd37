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

std::string data_while_written(const std::string& prefix) {
  return bundle_data_path(prefix, 0, 1) + ".new";
}

} // namespace

result<tensor_bundle_writer> tensor_bundle_writer::begin(file_system& files,
                                                         const std::string& prefix, bool partial) {
  tensor_bundle_writer made;
  made.files_ = &files;
  made.prefix_ = prefix;
  made.partial_ = partial;
  TROUPE_ASSIGN(made.data_, files.create(data_while_written(prefix)));
  tensor_bundle::BundleHeaderProto header;
  header.set_num_shards(1);
  header.mutable_version()->set_producer(1);
  made.rows_[""] = header.SerializeAsString();
  return made;
}

status tensor_bundle_writer::append_strings(const tensor& value, uint32_t& crc) {
  std::string part;
  for (const auto& each : value.values<std::string>()) {
    uint64_t length = each.size();
    append_varint(part, length);
    crc = crc32c(std::as_bytes(std::span{&length, 1}).first(length > UINT32_MAX ? 8 : 4), crc);
  }
  auto stored = masked_crc(crc);
  crc = crc32c(std::as_bytes(std::span{&stored, 1}), crc);
  part.append(reinterpret_cast<const char*>(&stored), sizeof stored);
  for (const auto& each : value.values<std::string>()) {
    crc = crc32c(std::as_bytes(std::span{each}), crc);
    if (part.size() + each.size() > written_part) {
      TROUPE_TRY(data_->append(part));
      part.clear();
    }
    part += each;
  }
  return data_->append(part);
}

status tensor_bundle_writer::add_row(std::string key, const tensor& value, std::string_view name) {
  if (value.empty() || !value.on_host())
    return invalid(prefix_, ": tensor '", name,
                   value.empty() ? "' holds nothing" : "' does not lie on the host");
  tensor_bundle::BundleEntryProto entry;
  entry.set_dtype(graph_def::written(value.type()));
  *entry.mutable_shape() = graph_def::written(partial_shape{value.dims()});
  const auto begin = data_->size();
  uint32_t crc = 0;
  if (value.type() == dtype::string) {
    TROUPE_TRY(append_strings(value, crc));
  } else {
    std::span all{static_cast<const std::byte*>(value.raw()), value.bytes()};
    // Racy updates may write to the memory meanwhile: what is hashed must be what is written.
    std::vector<std::byte> copy(std::min(written_part, all.size()));
    for (; !all.empty(); all = all.subspan(std::min(written_part, all.size()))) {
      std::span part{copy.data(), std::min(written_part, all.size())};
      std::ranges::copy(all.first(part.size()), part.begin());
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
    return invalid(prefix_, ": '", name, "' is no name for a tensor in it");
  if (rows_.contains(name) || partitioned_.contains(name))
    return invalid(prefix_, ": tensor '", name, "' is there twice");
  return add_row(name, value, name);
}

status tensor_bundle_writer::add_slice(const std::string& name, const shape& whole,
                                       std::span<const int64_t> offset, const tensor& value) {
  if (name.empty() || name.front() == '\0')
    return invalid(prefix_, ": '", name, "' is no name for a tensor in it");
  auto context = concat(prefix_, ": tensor '", name, "'");
  auto fits = check_slice(whole, offset, value.dims());
  if (!fits)
    return std::move(fits).within(context);
  if (rows_.contains(name))
    return invalid(context, " is there twice");
  auto [found, fresh] = partitioned_.try_emplace(name, partitioned{value.type(), whole});
  auto& of = found->second;
  if (of.type != value.type() || of.whole != whole)
    return invalid(context, " has slices of ", of.type, of.whole, " and of ", value.type(), whole);
  tensor_slice slice{{offset.begin(), offset.end()}, value.dims()};
  auto key = slice_key(name, extents_of(whole, slice));
  if (rows_.contains(key))
    return invalid(context, " has a slice twice");
  TROUPE_TRY(add_row(std::move(key), value, name));
  of.slices.push_back(std::move(slice));
  return {};
}

status tensor_bundle_writer::finish() {
  for (const auto& [name, of] : partitioned_) {
    auto covers = partial_ ? check_disjoint(of.slices) : check_cover(of.whole, of.slices);
    if (!covers)
      return std::move(covers).within(concat(prefix_, ": tensor '", name, "'"));
    tensor_bundle::BundleEntryProto entry;
    entry.set_dtype(graph_def::written(of.type));
    *entry.mutable_shape() = graph_def::written(partial_shape{of.whole});
    for (const auto& slice : of.slices)
      write_extents(extents_of(of.whole, slice), *entry.add_slices());
    rows_[name] = entry.SerializeAsString();
  }
  TROUPE_TRY(data_->sync());
  TROUPE_TRY(files_->rename(data_while_written(prefix_), bundle_data_path(prefix_, 0, 1)));
  TROUPE_TRY(files_->sync_folder(folder_of(prefix_)));
  std::vector<table_row> rows;
  for (const auto& [key, value] : rows_)
    rows.push_back({key, value});
  return replace_file(*files_, bundle_index_path(prefix_), write_sorted_table(rows));
}

} // namespace troupe
