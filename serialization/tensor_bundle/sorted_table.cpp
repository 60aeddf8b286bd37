#include "troupe/serialization/tensor_bundle/sorted_table.hpp"

#include "troupe/serialization/storage/crc32c.hpp"
#include "troupe/serialization/tensor_bundle/varint.hpp"

#include <snappy.h>

#include <cstring>

namespace troupe {
namespace {

constexpr uint64_t magic = 0xdb4775248b80fb57;
constexpr size_t footer_bytes = 48, trailer_bytes = 5;
constexpr size_t block_bytes = 4096; // of a written block, about
constexpr size_t rows_between_restarts = 16;
constexpr char stored = 0, compressed = 1; // kinds of blocks

// Snappy writes a copy of 64 bytes, its longest, in 3 bytes.
constexpr size_t max_inflation = 22;

// Keys share prefixes: a small file could hold keys of any total size.
constexpr size_t max_key_growth = 64;

struct block_handle {
  uint64_t offset = 0, size = 0;
};

bool take_handle(std::string_view& from, block_handle& handle) {
  return take_varint(from, handle.offset) && take_varint(from, handle.size);
}

void append_handle(std::string& to, const block_handle& handle) {
  append_varint(to, handle.offset);
  append_varint(to, handle.size);
}

uint32_t number_at(std::string_view bytes, size_t position) {
  uint32_t number = 0;
  std::memcpy(&number, bytes.data() + position, sizeof number);
  return number;
}

template <class T>
void append_number(std::string& to, T number) {
  to.append(reinterpret_cast<const char*>(&number), sizeof number);
}

status damaged_at(uint64_t offset, std::string_view reason) {
  return failure(error_kind::data_loss, "the block at byte ", offset, ' ', reason);
}

class table_reader {
public:
  explicit table_reader(std::string_view content) : content_(content) {}

  result<std::vector<table_row>> read() {
    if (content_.size() < footer_bytes)
      return failure(error_kind::data_loss, "has ", content_.size(),
                     " bytes, which is too short for a table: it was cut off");
    auto footer = content_.substr(content_.size() - footer_bytes);
    uint64_t stored_magic = 0;
    std::memcpy(&stored_magic, footer.data() + footer_bytes - sizeof stored_magic,
                sizeof stored_magic);
    if (stored_magic != magic)
      return failure(error_kind::data_loss,
                     "does not end like a table of LevelDB: it was cut off, or is none");
    block_handle meta, index;
    if (!take_handle(footer, meta) || !take_handle(footer, index))
      return failure(error_kind::data_loss,
                     "has a damaged footer, which does not locate its index");
    std::vector<table_row> index_rows, rows;
    TROUPE_TRY(read_block(index, index_rows));
    uint64_t min_offset = 0;
    for (const auto& index_row : index_rows) {
      block_handle handle;
      std::string_view value = index_row.value;
      if (!take_handle(value, handle) || !value.empty() || handle.offset < min_offset)
        return damaged_at(index.offset, "is damaged: it does not locate the blocks");
      min_offset = handle.offset + 1; // no block is read twice
      TROUPE_TRY(read_block(handle, rows));
      if (rows.empty() || rows.back().key > index_row.key)
        return damaged_at(handle.offset, "has other keys than the index says");
    }
    return rows;
  }

private:
  status read_block(const block_handle& handle, std::vector<table_row>& rows) {
    const auto blocks_end = content_.size() - footer_bytes;
    if (handle.offset > blocks_end || handle.size > blocks_end - handle.offset ||
        trailer_bytes > blocks_end - handle.offset - handle.size)
      return damaged_at(handle.offset,
                        concat("is listed with ", handle.size, " bytes, but the file has ",
                               content_.size(), ": it is damaged"));
    auto block = content_.substr(handle.offset, handle.size);
    auto with_kind = content_.substr(handle.offset, handle.size + 1);
    if (masked_crc32c(std::as_bytes(std::span{with_kind})) !=
        number_at(content_, handle.offset + handle.size + 1))
      return failure(error_kind::data_loss, "the block at byte ", handle.offset, " of ",
                     handle.size, " bytes has a wrong checksum: it is damaged");
    if (with_kind.back() == stored)
      return parse_block(handle.offset, block, rows);
    if (with_kind.back() != compressed)
      return failure(error_kind::unimplemented, "the block at byte ", handle.offset,
                     " is compressed in an unknown way (kind ",
                     static_cast<int>(static_cast<unsigned char>(with_kind.back())),
                     "; only Snappy's, 1, is known); save the checkpoint again with TensorFlow");
    TROUPE_ASSIGN(auto decompressed, decompress(handle.offset, block));
    return parse_block(handle.offset, decompressed, rows);
  }

  // Builds of TensorFlow at Google write such blocks. The length in a block's header is checked
  // against the size of the block before memory is allocated.
  result<std::string> decompress(uint64_t offset, std::string_view block) {
    size_t bytes = 0;
    if (!snappy::GetUncompressedLength(block.data(), block.size(), &bytes) ||
        bytes / max_inflation > block.size())
      return damaged_at(offset, "is damaged: its compressed bytes cannot have that length");
    inflated_ += bytes;
    std::string decompressed;
    if (!snappy::Uncompress(block.data(), block.size(), &decompressed))
      return damaged_at(offset, "is damaged: it cannot be decompressed");
    return decompressed;
  }

  status parse_block(uint64_t offset, std::string_view block, std::vector<table_row>& rows) {
    uint64_t restart_count = block.size() < 4 ? 0 : number_at(block, block.size() - 4);
    if (block.size() < 4 || restart_count > block.size() / 4 - 1)
      return damaged_at(offset, "is damaged: it has no list of restarts");
    block.remove_suffix(4 * restart_count + 4);
    while (!block.empty()) {
      uint64_t shared = 0, key_suffix_bytes = 0, value_bytes = 0;
      if (!take_varint(block, shared) || !take_varint(block, key_suffix_bytes) ||
          !take_varint(block, value_bytes) || key_suffix_bytes > block.size() ||
          value_bytes > block.size() - key_suffix_bytes ||
          shared > (rows.empty() ? 0 : rows.back().key.size()))
        return damaged_at(offset, "is damaged: a row does not fit into it");
      table_row row;
      if (shared > 0)
        row.key = rows.back().key.substr(0, shared);
      row.key.append(block.substr(0, key_suffix_bytes));
      row.value = block.substr(key_suffix_bytes, value_bytes);
      block.remove_prefix(key_suffix_bytes + value_bytes);
      if (!rows.empty() && row.key <= rows.back().key)
        return damaged_at(offset, "is damaged: its keys do not ascend");
      key_bytes_ += row.key.size();
      if (key_bytes_ / max_key_growth > content_.size() + inflated_)
        return failure(error_kind::resource_exhausted, "keys take more than ", max_key_growth,
                       " times the bytes of the file: it is damaged");
      rows.push_back(std::move(row));
    }
    return {};
  }

  std::string_view content_;
  size_t key_bytes_ = 0;
  size_t inflated_ = 0; // bytes of compressed blocks
};

class block_writer {
public:
  explicit block_writer(size_t restart_interval) : restart_interval_(restart_interval) {}

  void add(std::string_view key, std::string_view value) {
    size_t shared = 0;
    if (count_ % restart_interval_ == 0)
      restarts_.push_back(static_cast<uint32_t>(text_.size()));
    else
      while (shared < std::min(key.size(), last_key_.size()) && key[shared] == last_key_[shared])
        ++shared;
    append_varint(text_, shared);
    append_varint(text_, key.size() - shared);
    append_varint(text_, value.size());
    text_.append(key.substr(shared)).append(value);
    last_key_ = key;
    ++count_;
  }

  size_t size() const { return text_.size(); }

  // Appends the block to the file and begins a new block.
  block_handle write(std::string& to) {
    if (restarts_.empty())
      restarts_.push_back(0);
    for (auto restart : restarts_)
      append_number(text_, restart);
    append_number(text_, static_cast<uint32_t>(restarts_.size()));
    block_handle handle{to.size(), text_.size()};
    text_ += stored;
    append_number(text_, masked_crc32c(std::as_bytes(std::span{text_})));
    to += text_;
    *this = block_writer{restart_interval_};
    return handle;
  }

private:
  size_t restart_interval_, count_ = 0;
  std::string text_, last_key_;
  std::vector<uint32_t> restarts_;
};

} // namespace

result<std::vector<table_row>> read_sorted_table(std::string_view content) {
  return table_reader{content}.read();
}

std::string write_sorted_table(const std::vector<table_row>& rows) {
  std::string file;
  block_writer block{rows_between_restarts}, index{1};
  for (size_t i = 0; i < rows.size(); ++i) {
    block.add(rows[i].key, rows[i].value);
    if (block.size() < block_bytes && i + 1 < rows.size())
      continue;
    std::string handle;
    append_handle(handle, block.write(file));
    index.add(rows[i].key, handle);
  }
  std::string footer;
  append_handle(footer, block_writer{1}.write(file));
  append_handle(footer, index.write(file));
  footer.resize(footer_bytes - sizeof magic);
  append_number(footer, magic);
  return file + footer;
}

} // namespace troupe
