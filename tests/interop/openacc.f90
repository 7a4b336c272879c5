! SPDX-License-Identifier: BSD-2-Clause
! A solver by OpenACC, whose regions without async run on a stream that the runtime names: on it nothing waits between them
! and the layer. Inside host_data the names are addresses on the device.
program openacc_solver
  use mpi_f08
  use tenon
  use openacc, only: acc_async_sync
  use, intrinsic :: iso_c_binding, only: c_int, c_loc, c_ptr
  implicit none
  interface
    function acc_get_cuda_stream(async) result(stream) bind(c)
      import :: c_int, c_ptr
      integer(c_int), value :: async
      type(c_ptr) :: stream
    end function acc_get_cuda_stream
  end interface
  integer, parameter :: cells = 64
  type(tenon_partition) :: partition
  type(tenon_layout) :: layout
  type(tenon_layer) :: layer
  type(tenon_dtensor) :: x, y
  double precision, target :: u(cells), v(cells)
  integer :: i, size

  call tenon_initialize()
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  call tenon_partition_create(MPI_COMM_WORLD, [size], partition)
  call tenon_partition_set_stream(partition, acc_get_cuda_stream(int(acc_async_sync, c_int)))
  call tenon_layout_create_sharded(partition, [1, 1, cells * size], 'S2', layout)
  call tenon_dtensor_create(layout, TENON_FLOAT64, x)
  call tenon_dtensor_create(layout, TENON_FLOAT64, y)
  call tenon_dtensor_set_space(x, TENON_MEMORY_DEVICE)
  call tenon_dtensor_set_space(y, TENON_MEMORY_DEVICE)
  call tenon_layer_create_type(MPI_COMM_WORLD, 'tanh', layer)
  call tenon_layer_set_data_type(layer, TENON_FLOAT64)
  call tenon_layer_set_space(layer, TENON_MEMORY_DEVICE)
  call tenon_layer_set_up(layer, layout)
  !$acc data copyout(v) create(u)
  !$acc host_data use_device(u, v)
  call tenon_dtensor_place_array(x, cells, first_owned=c_loc(u))
  call tenon_dtensor_place_array(y, cells, first_owned=c_loc(v))
  !$acc end host_data
  !$acc parallel loop present(u)
  do i = 1, cells
    u(i) = 0.1d0 * i ! the solver's work
  end do
  call tenon_layer_apply(layer, x, y)
  call tenon_dtensor_reset_array(x)
  call tenon_dtensor_reset_array(y)
  !$acc end data
  print '(f8.6)', v(cells)
  call tenon_destroy(x)
  call tenon_destroy(y)
  call tenon_destroy(layer)
  call tenon_destroy(layout)
  call tenon_destroy(partition)
  call tenon_finalize()
end program openacc_solver
