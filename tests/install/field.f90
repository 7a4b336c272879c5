! SPDX-License-Identifier: BSD-2-Clause
! A field with ghost cells, split along y; a convolution of it, and the check of its adjoint.
program main
  use mpi_f08
  use tenon
  implicit none
  integer, parameter :: nx = 8, ny = 12, ghost = 1
  double precision, allocatable, target :: u(:, :)
  type(tenon_layout) :: layout
  type(tenon_dtensor) :: x, y
  type(tenon_layer) :: conv
  double precision :: relative
  integer :: rank, ranks, y0, y1
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  y0 = ny*rank/ranks + 1
  y1 = ny*(rank + 1)/ranks
  allocate (u(1 - ghost:nx + ghost, y0 - ghost:y1 + ghost))
  call random_number(u)
  call tenon_initialize()
  call tenon_layout_create_from_boxes(MPI_COMM_WORLD, [1, y0, 1, 1], [nx, y1, 1, 1], layout) ! x, y, channel, batch
  call tenon_dtensor_create(layout, TENON_FLOAT64, x)
  call tenon_place(x, u(1:nx, y0:y1), array=u) ! no copy
  call tenon_layer_create_conv(MPI_COMM_WORLD, 1, 8, [3, 3], conv)
  call tenon_layer_set_data_type(conv, TENON_FLOAT64)
  call tenon_layer_set_padding(conv, [1, 1])
  call tenon_layer_set_up(conv, layout)
  call tenon_layer_initialize(conv, 1)
  call tenon_layer_test_adjoint(conv, 1, x, relative=relative)
  if (relative > 1d-13) error stop 'the adjoint is wrong'
  call tenon_layer_create_output(conv, 1, y)
  call tenon_layer_apply(conv, x, y)
  call tenon_destroy(conv)
  call tenon_destroy(x)
  call tenon_destroy(y)
  call tenon_destroy(layout)
  call tenon_finalize()
  call MPI_Finalize()
end program main
