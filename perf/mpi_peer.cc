// SPDX-License-Identifier: Apache-2.0
#include "mpi_peer.h"

#include <mpi.h>

#include <limits>
#include <string>

#include "job.h"

namespace detccl::perf {
namespace {

MPI_Datatype mpi_type(contract::DataType type) {
  switch (type) {
    case contract::DataType::int8:
      return MPI_INT8_T;
    case contract::DataType::uint8:
      return MPI_UINT8_T;
    case contract::DataType::int32:
      return MPI_INT32_T;
    case contract::DataType::uint32:
      return MPI_UINT32_T;
    case contract::DataType::int64:
      return MPI_INT64_T;
    case contract::DataType::uint64:
      return MPI_UINT64_T;
    case contract::DataType::float32:
      return MPI_FLOAT;
    case contract::DataType::float64:
      return MPI_DOUBLE;
    default:
      return MPI_DATATYPE_NULL;
  }
}

MPI_Op mpi_op(contract::Op op) {
  switch (op) {
    case contract::Op::sum:
      return MPI_SUM;
    case contract::Op::prod:
      return MPI_PROD;
    case contract::Op::max:
      return MPI_MAX;
    case contract::Op::min:
      return MPI_MIN;
    default:
      return MPI_OP_NULL;
  }
}

}  // namespace

void check_mpi_supports(contract::DataType type, contract::Op op, std::uint64_t count) {
  if (mpi_type(type) == MPI_DATATYPE_NULL)
    throw UsageError("MPI has no type " + std::string(contract::name(type)));
  if (mpi_op(op) == MPI_OP_NULL) throw UsageError("MPI has no operation " + std::string(contract::name(op)));
  if (count > std::uint64_t{std::numeric_limits<int>::max()})
    throw UsageError("too many elements for MPI's counts");
}

void mpi_all_reduce(const void* send, void* receive, std::uint64_t count, contract::DataType type,
                    contract::Op op) {
  MPI_Allreduce(send == receive ? MPI_IN_PLACE : send, receive, static_cast<int>(count), mpi_type(type),
                mpi_op(op), MPI_COMM_WORLD);
}

}  // namespace detccl::perf
