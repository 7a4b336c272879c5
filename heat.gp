set terminal png size 1500,400
set output 'heat.png'
set multiplot layout 1,3
set view map
set size ratio -1
unset key
set autoscale fix
set title 'field'
plot 'heat.dat' using 2:1:3 with image
set title 'tendency from the closure'
plot 'heat.dat' using 2:1:4 with image
set title 'error of the field'
plot 'heat.dat' using 2:1:5 with image
